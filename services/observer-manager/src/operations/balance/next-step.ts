import { asideOf, nextStep, type Plan, planOf } from "../../domain/balance/plan.ts";
import type { Stage } from "../../domain/balance/stage.ts";
import type { PoolStanding, RebalanceRow, Step, StepChoice } from "./balance-store.ts";

/** At most this part of all that run in the pool moves at once. A step is every 5 s, so that is 12 % a minute. */
const A_STEP = 0.01;
const A_SMALL_STEP = 5;
/**
 * A rebalance waits so long for what is on its way, or for a service that rests; then there is no worker for that, and nothing to spread.
 */
const WAITS_AT_MOST_MS = 60_000;

export const TYPES_UNKNOWN = "those with room do not know the types of what could move";

/** Plans for those that give and take. The others keep what they have. */
export const planFor = ({ services }: PoolStanding): Plan =>
  planOf(services.filter(({ isOpen, canMove }) => isOpen && canMove));

/** How many are on their way to a service of the pool, or wait. */
export const awaitingIn = ({ awaiting }: PoolStanding): number => [...awaiting.values()].reduce((a, b) => a + b, 0);

/**
 * The plan in which those that rest for now take part, where it finds the pool uneven and could mend that; undefined: they change nothing.
 */
export function withThoseAtRest({ services }: PoolStanding): { plan: Plan; why: string } | undefined {
  const known = services.filter(({ canMove }) => canMove);
  const resting = known.filter(({ restsFor }) => restsFor !== null);
  if (resting.length === 0) return undefined;
  const plan = planOf(known.filter(({ isOpen, restsFor }) => isOpen || restsFor !== null));
  if (!plan.isUneven || plan.moves === 0) return undefined;
  const who = resting.slice(0, 3).map(({ name, restsFor }) => `${name} ${restsFor}`);
  return { plan, why: `${who.join(", ")}; with ${resting.length === 1 ? "it" : "them"} the pool is not even` };
}

/** What is on its way goes first: a failover must not find a service aside. */
export function decideStep({ waitsForMs }: RebalanceRow, standing: PoolStanding | undefined): Step {
  if (standing === undefined) return { kind: "end", outcome: "stalled", why: "no service of the pool lives" };
  const awaiting = awaitingIn(standing);
  if (awaiting > 0) {
    const why = `${awaiting} ${awaiting === 1 ? "observer is" : "observers are"} on the way to a service, or ${awaiting === 1 ? "waits" : "wait"} for a worker`;
    return waitFor(why, waitsForMs);
  }
  const old = standing.services.find(({ isOpen, canMove }) => isOpen && !canMove);
  if (old !== undefined) {
    const why = `${old.name} is of a version that cannot step aside, and would be given what others are to have`;
    return { kind: "end", outcome: "stalled", why };
  }
  const plan = planFor(standing);
  const atRest = plan.moves === 0 ? withThoseAtRest(standing) : undefined;
  if (atRest !== undefined) return waitFor(atRest.why, waitsForMs);
  if (plan.moves === 0 && plan.isUneven) return { kind: "end", outcome: "stalled", why: TYPES_UNKNOWN };
  if (plan.moves === 0) return { kind: "end", outcome: "even", why: null };
  const running = plan.services.reduce((sum, service) => sum + service.running, 0);
  const atMost = Math.max(A_SMALL_STEP, Math.ceil(running * A_STEP));
  const choices = plan.stages.map((stage) => choiceOf(plan, stage, atMost));
  return { kind: "move", choices, left: plan.moves, isNearlyEven: !plan.isUneven };
}

function choiceOf(plan: Plan, stage: Stage, atMost: number): StepChoice {
  const steps = nextStep(stage, atMost);
  const givers = new Set(steps.map(({ id }) => id));
  const moves = steps.flatMap(({ id, leaving }) => [...leaving].map(([type, count]) => ({ serviceId: id, type, count })));
  const moving = moves.reduce((sum, { count }) => sum + count, 0);
  return { moves, aside: asideOf(plan, stage, moving, givers) };
}

const waitFor = (why: string, waitsForMs: number): Step =>
  waitsForMs > WAITS_AT_MOST_MS ? { kind: "end", outcome: "stalled", why } : { kind: "wait", why };
