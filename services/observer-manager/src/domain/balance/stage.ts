/** A service as it is to lie in the end: with its share. */
export interface Lying {
  readonly id: string;
  readonly workers: number;
  readonly runs: ReadonlyMap<string, number>;
  readonly knows: ReadonlySet<string>;
  readonly share: number;
}

/** What can move at once: each of the takers knows all of it, and together they have room for it. */
export interface Stage {
  /** By service, and by type. */
  readonly leaving: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly takers: ReadonlySet<string>;
}

type Fair = (type: string, workers: number) => number;

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((a, b) => a + b, 0);
const overOf = ({ runs, share }: Lying): number => sum(runs.values()) - share;

/**
 * The stage that moves most: of all types that one of those with room knows, to whoever of them knows these, too.
 * @param fair a type's part of so many workers
 * @returns undefined: nobody with room knows anything of what is too much elsewhere
 */
export function stageOf(services: readonly Lying[], fair: Fair): Stage | undefined {
  const givers = services.filter((one) => overOf(one) > 0);
  const lacking = services.filter((one) => overOf(one) < 0);
  const types = new Set(givers.flatMap(({ runs }) => [...runs].flatMap(([type, count]) => (count > 0 ? [type] : []))));
  const known = new Map(
    lacking.map(({ knows }) => [...types].filter((type) => knows.has(type))).map((of) => [of.join(), of]),
  );
  let most: { count: number; moving: readonly string[]; takers: Lying[] } | undefined;
  for (const moving of known.values()) {
    const takers = lacking.filter(({ knows }) => moving.every((type) => knows.has(type)));
    const given = sum(givers.map((one) => Math.min(overOf(one), countOf(one, moving))));
    const count = Math.min(given, -sum(takers.map(overOf)));
    if (count > (most?.count ?? 0)) most = { count, moving, takers };
  }
  if (most === undefined) return undefined;
  const { moving, takers } = most;
  const leaving = new Map<string, Map<string, number>>();
  let room = most.count;
  for (const giver of givers) {
    const count = Math.min(room, overOf(giver), countOf(giver, moving));
    if (count > 0) leaving.set(giver.id, leavingOf(giver, moving, count, fair));
    room -= count;
  }
  return { leaving, takers: new Set(takers.map(({ id }) => id)) };
}

const countOf = ({ runs }: Lying, types: readonly string[]): number => sum(types.map((type) => runs.get(type) ?? 0));

/** So many of each type that what stays is as close to the type's fair part as can be. */
function leavingOf({ runs, workers }: Lying, types: readonly string[], count: number, fair: Fair): Map<string, number> {
  const leaving = new Map<string, number>();
  const over = types.map((type) => ({ type, left: runs.get(type) ?? 0, over: (runs.get(type) ?? 0) - fair(type, workers) }));
  for (let i = 0; i < count; i += 1) {
    const most = over.reduce((a, b) => (b.left > 0 && (a.left === 0 || b.over > a.over) ? b : a));
    most.left -= 1;
    most.over -= 1;
    leaving.set(most.type, (leaving.get(most.type) ?? 0) + 1);
  }
  return leaving;
}

/** As they lie behind it, whoever of the takers gets what. */
export function withStage(services: readonly Lying[], { leaving, takers }: Stage): Lying[] {
  const moving = new Map<string, number>();
  for (const left of leaving.values()) for (const [type, count] of left) moving.set(type, (moving.get(type) ?? 0) + count);
  return services.map((service): Lying => {
    const runs = new Map(service.runs);
    for (const [type, count] of leaving.get(service.id) ?? []) runs.set(type, (runs.get(type) ?? 0) - count);
    let room = takers.has(service.id) ? -overOf(service) : 0;
    for (const [type, count] of moving) {
      const taken = Math.min(room, count);
      room -= taken;
      moving.set(type, count - taken);
      runs.set(type, (runs.get(type) ?? 0) + taken);
    }
    return { ...service, runs };
  });
}
