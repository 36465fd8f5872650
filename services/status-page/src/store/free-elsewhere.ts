import type { ServiceView } from "@unacked/contracts";

/** Free workers of those that could take over what runs on `service`: alive, of its pool, and not draining themselves. */
export function freeElsewhere(
  service: ServiceView,
  living: readonly ServiceView[],
  usedOf: (service: ServiceView) => number,
): number {
  return living
    .filter(({ id, pool, state, draining }) => id !== service.id && pool === service.pool && state === "Alive" && !draining)
    .reduce((sum, each) => sum + Math.max(0, each.workerCount - usedOf(each)), 0);
}
