import type { ServiceLoad } from "./service-load.ts";

/** What can move at once: each of the takers knows all of it, and together they have room for it. */
export interface Stage<Type = string> {
  /** How many leave each service, by type. */
  readonly leaving: ReadonlyMap<string, ReadonlyMap<Type, number>>;
  readonly takers: ReadonlySet<string>;
}

type Fair = (type: number, workers: number) => number;

/**
 * The stage that moves most. It moves types that one service with room knows, to every service with room that knows them all.
 * @param fair how many of a type fall to so many workers
 * @returns undefined: no service with room knows a type that could leave another
 */
export function stageOf(services: readonly ServiceLoad[], fair: Fair): Stage<number> | undefined {
  const givers = services.filter(({ over }) => over > 0);
  const lacking = services.filter(({ over }) => over < 0);
  const rooms = new Map<ServiceLoad["knows"], number>();
  for (const { knows, over } of lacking) rooms.set(knows, (rooms.get(knows) ?? 0) - over);
  let most: { count: number; moving: readonly number[] } = { count: 0, moving: [] };
  const types = typesOf(givers);
  for (const known of rooms.keys()) {
    const moving = types.filter((type) => known[type]);
    let room = 0;
    for (const [knows, of] of rooms) if (moving.every((type) => knows[type])) room += of;
    if (room <= most.count) continue;
    const count = Math.min(room, givenBy(givers, moving));
    if (count > most.count) most = { count, moving };
  }
  const { moving } = most;
  if (most.count === 0) return undefined;
  const takers = lacking.filter(({ knows }) => moving.every((type) => knows[type]));
  const leaving = new Map<string, Map<number, number>>();
  let room = most.count;
  for (const giver of givers) {
    const count = Math.min(room, giver.over, countOf(giver, moving));
    if (count > 0) leaving.set(giver.id, leavingOf(giver, moving, count, fair));
    room -= count;
  }
  return { leaving, takers: new Set(takers.map(({ id }) => id)) };
}

function typesOf(givers: readonly ServiceLoad[]): number[] {
  const types = new Set<number>();
  for (const { runs } of givers) runs.forEach((count, type) => count > 0 && types.add(type));
  return [...types];
}

const givenBy = (givers: readonly ServiceLoad[], types: readonly number[]): number =>
  givers.reduce((sum, giver) => sum + Math.min(giver.over, countOf(giver, types)), 0);

const countOf = ({ runs }: ServiceLoad, types: readonly number[]): number =>
  types.reduce((sum, type) => sum + (runs[type] ?? 0), 0);

/**
 * How many of each type leave, so that what stays is as close to the type's fair part as can be: the type that is farthest above it gives
 * first. Each one that leaves brings its type one closer: so there is a whole level above which all leave, and of the next below it at most
 * one of each type does.
 */
function leavingOf(
  { runs, workers }: ServiceLoad,
  types: readonly number[],
  count: number,
  fair: Fair,
): Map<number, number> {
  const each = types.map((type) => ({ type, running: runs[type] ?? 0, over: (runs[type] ?? 0) - fair(type, workers) }));
  const above = ({ running, over }: { running: number; over: number }, level: number): number =>
    Math.min(running, Math.max(0, Math.ceil(over - level)));
  const allAbove = (level: number): number => each.reduce((sum, one) => sum + above(one, level), 0);
  let level = Math.ceil(Math.max(...each.map(({ over }) => over))); // nothing is above
  let below = Math.floor(Math.min(...each.map(({ over, running }) => over - running))) - 1; // all is
  while (level - below > 1) {
    const middle = Math.floor((level + below) / 2);
    if (allAbove(middle) <= count) level = middle;
    else below = middle;
  }
  const left = (one: (typeof each)[number]): number => one.over - above(one, level);
  const next = each.filter((one) => above(one, level - 1) > above(one, level)).toSorted((a, b) => left(b) - left(a));
  const also = new Set(next.slice(0, count - allAbove(level)));
  return new Map(
    each.map((one) => [one.type, above(one, level) + Number(also.has(one))] as const).filter(([, leaving]) => leaving > 0),
  );
}

/** The loads after the stage. Which taker gets which types is assumed. */
export function withStage(services: readonly ServiceLoad[], { leaving, takers }: Stage<number>): ServiceLoad[] {
  const moving = new Map<number, number>();
  for (const left of leaving.values()) for (const [type, count] of left) moving.set(type, (moving.get(type) ?? 0) + count);
  return services.map((service): ServiceLoad => {
    const left = leaving.get(service.id);
    if (left === undefined && !takers.has(service.id)) return service;
    const runs = [...service.runs];
    let { over } = service;
    const add = (type: number, count: number): void => {
      runs[type] = (runs[type] ?? 0) + count;
      over += count;
    };
    for (const [type, count] of left ?? []) add(type, -count);
    if (takers.has(service.id))
      for (const [type, count] of moving) {
        const taken = Math.min(-over, count);
        moving.set(type, count - taken);
        add(type, taken);
      }
    return { ...service, runs, over };
  });
}
