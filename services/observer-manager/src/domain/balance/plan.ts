import { type BalancedService, loadsOf } from "./service-load.ts";
import { type Stage, stageOf, withStage } from "./stage.ts";

export interface ServiceShare {
  readonly id: string;
  readonly running: number;
  readonly share: number;
  /** How many are to leave it, by type. */
  readonly leaving: ReadonlyMap<string, number>;
}

export interface Plan {
  readonly services: readonly ServiceShare[];
  /** The stage that moves most comes first. Empty: nothing can move. */
  readonly stages: readonly Stage[];
  /** How many observers leave in these stages; more may move where MAX_STAGES cut them short. */
  readonly moves: number;
  /** At least one service is off its share by more than MIN_OFF observers, and by more than the part OFF of the share. */
  readonly isUneven: boolean;
}

const OFF = 0.25;
const MIN_OFF = 5;
/** With 200 services and 300 types a stage takes some 5 ms. A step is made from the first stage of which anything can move. */
const MAX_STAGES = 10;

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((a, b) => a + b, 0);

/**
 * How the observers of a pool should lie on its services, and the fewest moves that get them there. Pure.
 *
 * Each service's share is in proportion to its workers, in whole observers; what is left over by rounding stays where it is. Only
 * what lies above a share moves, and of that first what its type has too much of there: a type is spread as well. Where services know different
 * types it is made in stages, as whoever takes anything has to know all that moves meanwhile.
 */
export function planOf(services: readonly BalancedService[]): Plan {
  const totals = new Map<string, number>();
  for (const { runs } of services) for (const [type, count] of runs) totals.set(type, (totals.get(type) ?? 0) + count);
  const shares = sharesOf(services, sum(totals.values()));
  const stages = stagesOf(services, shares, totals);
  const planned = services.map(({ id, runs }, i): ServiceShare => {
    const leaving = new Map<string, number>();
    for (const stage of stages)
      for (const [type, count] of stage.leaving.get(id) ?? []) leaving.set(type, (leaving.get(type) ?? 0) + count);
    return { id, running: sum(runs.values()), share: shares[i] ?? 0, leaving };
  });
  return {
    services: planned,
    stages,
    moves: sum(planned.map(({ leaving }) => sum(leaving.values()))),
    isUneven: planned.some(isFarFromShare),
  };
}

const workersOf = (services: readonly BalancedService[]): number => sum(services.map(({ workers }) => workers));

function stagesOf(
  services: readonly BalancedService[],
  shares: readonly number[],
  totals: ReadonlyMap<string, number>,
): Stage[] {
  const all = workersOf(services);
  const types = [...totals.keys()];
  const counts = [...totals.values()];
  const fair = (type: number, workers: number): number => ((counts[type] ?? 0) * workers) / all;
  const nameOf = ([type, count]: [number, number]): [string, number] => [types[type] ?? "", count];
  const stages: Stage[] = [];
  let loads = loadsOf(services, types, shares);
  for (let next = stageOf(loads, fair); next !== undefined; next = stageOf(loads, fair)) {
    const leaving = [...next.leaving].map(([id, left]) => [id, new Map([...left].map(nameOf))] as const);
    stages.push({ takers: next.takers, leaving: new Map(leaving) });
    if (stages.length === MAX_STAGES) break;
    loads = withStage(loads, next);
  }
  return stages;
}

/** A service below its share counts, too: one that came to the others is to be filled. */
export const isFarFromShare = ({ running, share }: Pick<ServiceShare, "running" | "share">): boolean =>
  Math.abs(running - share) > MIN_OFF && Math.abs(running - share) > OFF * share;

/**
 * Whole numbers that add up to `total`. What rounding leaves over goes to the services that run most above their part: it need not move.
 */
function sharesOf(services: readonly BalancedService[], total: number): number[] {
  const workers = workersOf(services);
  if (workers === 0) return services.map(() => 0);
  const parts = services.map((service) => Math.floor((total * service.workers) / workers));
  const byAbove = services
    .map((service, i) => ({ i, above: sum(service.runs.values()) - (parts[i] ?? 0) }))
    .toSorted((a, b) => b.above - a.above || a.i - b.i);
  for (const { i } of byAbove.slice(0, total - sum(parts))) parts[i] = (parts[i] ?? 0) + 1;
  return parts;
}

/** The next few moves of a stage, taken in turn from all that are to give. */
export function nextStep({ leaving }: Stage, atMost: number): { id: string; leaving: Map<string, number> }[] {
  const wanted = [...leaving].flatMap(([id, left]) => [...left].map(([type, count]) => ({ id, type, count })));
  const all = sum(wanted.map(({ count }) => count));
  const steps = new Map<string, Map<string, number>>();
  let taken = 0;
  let passed = 0;
  for (const { id, type, count } of wanted) {
    passed += count;
    const part = Math.min(count, Math.round((Math.min(all, atMost) * passed) / Math.max(1, all)) - taken);
    taken += part;
    if (part > 0) steps.set(id, (steps.get(id) ?? new Map<string, number>()).set(type, part));
  }
  return [...steps].map(([id, left]) => ({ id, leaving: left }));
}

/**
 * The services, other than givers, that are to take none of the `moving` observers: those that have their share, those that do not know all
 * that moves, and those that lack less than would come to each, as the broker gives them out in turn.
 */
export function asideOf({ services }: Plan, stage: Stage, moving: number, givers: ReadonlySet<string>): string[] {
  const lacking = services.filter(({ id }) => stage.takers.has(id)).toSorted((a, b) => lackOf(b) - lackOf(a));
  let takers = lacking.length;
  while (takers > 1 && lackOf(lacking[takers - 1] as ServiceShare) < moving / takers) takers -= 1;
  const taking = new Set(lacking.slice(0, takers).map(({ id }) => id));
  return services.flatMap(({ id }) => (taking.has(id) || givers.has(id) ? [] : [id]));
}

const lackOf = ({ running, share }: ServiceShare): number => share - running;
