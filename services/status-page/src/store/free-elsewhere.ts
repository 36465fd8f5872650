import { type ServiceView, takesWork } from "@unacked/contracts";

/** Free workers of those that could take over what runs on `service`: alive, of its pool, and taking work themselves. */
export function freeElsewhere(
  service: ServiceView,
  living: readonly ServiceView[],
  usedOf: (service: ServiceView) => number,
): number {
  return thoseThatTake(service, living).reduce((sum, each) => sum + Math.max(0, each.workerCount - usedOf(each)), 0);
}

/** Of the types that run on it, each with how many do, those that none of these has: what it gives back of them waits. */
export function unservedElsewhere(
  service: ServiceView,
  living: readonly ServiceView[],
  running: ReadonlyMap<string, number>,
): { type: string; count: number }[] {
  const others = thoseThatTake(service, living);
  return [...running].flatMap(([type, count]) =>
    others.some(({ types }) => types.includes(type)) ? [] : [{ type, count }],
  );
}

const thoseThatTake = ({ id, pool }: ServiceView, living: readonly ServiceView[]): ServiceView[] =>
  living.filter((one) => one.id !== id && one.pool === pool && takesWork(one));
