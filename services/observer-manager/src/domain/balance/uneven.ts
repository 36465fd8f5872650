import { type PoolStats, type ServiceView, takesWork } from "@unacked/contracts";
import type { UnevenPool, UnservedType, WaitingElsewhere } from "../overview/facts.ts";
import { isFarFromShare, type Plan, planOf } from "./plan.ts";

/** Names the service that is farthest from its share, in words; null: none is far enough to be worth a move. */
export function unevenText(plan: Plan, nameOf: (id: string) => string): string | null {
  const off = ({ running, share }: { running: number; share: number }): number => Math.abs(running - share);
  const [first] = plan.services.filter(isFarFromShare).toSorted((a, b) => off(b) - off(a));
  return first === undefined ? null : `${nameOf(first.id)} runs ${first.running}, and its share is ${first.share}`;
}

type Shown = Pick<
  ServiceView,
  "id" | "name" | "pool" | "state" | "draining" | "cordoned" | "notConsuming" | "workerCount" | "running"
>;

/**
 * Pools with no observer on its way to a service, and with one service far from its share; by counts alone, as if each could run anywhere.
 * @param unserved what waits and none of its pool's services has: that is on the way to nobody
 * @param elsewhere what is to leave another pool first: it is not on its way, either
 */
export function unevenPools(
  pools: readonly Pick<PoolStats, "pool" | "occupied">[],
  services: readonly Shown[],
  unserved: readonly UnservedType[],
  elsewhere: readonly WaitingElsewhere[],
): UnevenPool[] {
  return pools.flatMap(({ pool, occupied }) => {
    const own = services.filter((service) => service.pool === pool);
    const stuck = unserved.filter((type) => type.kind === "observer" && type.pool === pool);
    const toCome = elsewhere.filter((one) => one.pool === pool && !stuck.some(({ type }) => type === one.type));
    const counted = occupied + countOf(stuck, "unsent");
    if (counted - countOf([...stuck, ...toCome], "count") > countOf(own, "running")) return [];
    const any = "any";
    const plan = planOf(
      own.filter(takesWork).map(({ id, workerCount: workers, running }) => ({
        id,
        workers,
        runs: new Map([[any, running]]),
        knows: new Set([any]),
      })),
    );
    const why = unevenText(plan, (id) => own.find((service) => service.id === id)?.name ?? id);
    return why === null ? [] : [{ pool, why, moves: plan.moves }];
  });
}

const countOf = <Key extends string>(rows: readonly Record<Key, number>[], key: Key): number =>
  rows.reduce((sum, row) => sum + row[key], 0);
