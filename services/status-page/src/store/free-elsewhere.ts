import type { ServiceView } from "@unacked/contracts";

/** Free workers of those that could take over what runs on `service`: alive, of its pool, and taking work themselves. */
export function freeElsewhere(
  service: ServiceView,
  living: readonly ServiceView[],
  usedOf: (service: ServiceView) => number,
): number {
  return living
    .filter((one) => one.id !== service.id && one.pool === service.pool && takesWork(one))
    .reduce((sum, each) => sum + Math.max(0, each.workerCount - usedOf(each)), 0);
}

const takesWork = ({ state, draining, cordoned, notConsuming }: ServiceView): boolean =>
  state === "Alive" && !draining && !cordoned && notConsuming === null;
