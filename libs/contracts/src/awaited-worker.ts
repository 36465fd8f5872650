// No zod here: the status page is built from this, too, and must not load it.

import type { ObserverView } from "./rest/observers.ts";
import type { ServiceView } from "./rest/services.ts";
import { traitsOf } from "./states/observer-status.ts";

type Waiting = Pick<ObserverView, "status" | "pool" | "type" | "waitsFor" | "startProblem">;
type Taker = Pick<ServiceView, "pool" | "state" | "draining" | "cordoned" | "types" | "free" | "notConsuming">;

/**
 * What an observer without a run waits for, also one that found no worker at its time, in words that go on from "waits for". Undefined: it waits for no worker, or there is one, and the
 * broker is about to give it out.
 *
 * @param services those that live
 */
export function awaitedWorker(
  { status, pool, type, waitsFor, startProblem }: Waiting,
  services: readonly Taker[],
): string | undefined {
  const isLate = startProblem !== null;
  if ((traitsOf(status).run !== "awaited" && !isLate) || waitsFor !== null) return undefined;
  const living = services.filter((one) => one.pool === pool);
  const alive = living.filter(({ state }) => state === "Alive");
  if (alive.length === 0) return `a service of pool ${pool}: none is ${living.length > 0 ? "heard" : "alive"}`;
  const open = alive.filter((one) => !one.draining && !one.cordoned);
  if (open.length === 0) return `a service of pool ${pool} that takes observers: all drain, or are cordoned`;
  const able = open.filter(({ types }) => types.includes(type));
  if (able.length === 0) return `a service of pool ${pool} that has the type ${type}: none has it`;
  if (!isLate && able.some(({ free }) => free > 0)) return undefined;
  const [why = isLate ? "its time has come, and there is none" : undefined] = able.flatMap(
    ({ notConsuming }) => notConsuming ?? [],
  );
  return `a free worker of pool ${pool}${why === undefined ? "" : `: ${why}`}`;
}
