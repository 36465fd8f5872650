import { PoolName, ServiceName } from "@unacked/contracts";
import { MAX_WORKERS } from "../machine/worker-count.ts";

/** One of the pools that a process serves, as a service of its own. */
export interface ServedPool {
  readonly pool: string;
  /** The name of that service. */
  readonly serviceName: string;
  /** How many observers of this pool run here at once. Undefined means WORKER_COUNT. */
  readonly workers: number | undefined;
}

const MAX_POOLS = 16;
const WORKERS = /^[1-9]\d{0,4}$/;

/** Parses `fast:20, default:80`, or names alone. */
const entriesOf = (text: string) =>
  text.split(",").map((entry) => {
    const [pool = "", workers, ...more] = entry.trim().split(":");
    return { entry: entry.trim(), pool, workers, isLong: more.length > 0 };
  });

/**
 * The pools of a text that `flawOfPools` accepts. If there are several, the service of each bears the pool in its name, so that a
 * manager tells them apart.
 */
export function servedPools(text: string, serviceName: string): ServedPool[] {
  const entries = entriesOf(text);
  return entries.map(({ pool, workers }) => ({
    pool,
    serviceName: entries.length === 1 ? serviceName : `${serviceName}:${pool}`,
    workers: workers === undefined ? undefined : Number(workers),
  }));
}

/** What is wrong with a list of pools, in words. Undefined means nothing. */
export function flawOfPools(text: string): string | undefined {
  const entries = entriesOf(text);
  if (entries.length > MAX_POOLS) return `must name at most ${MAX_POOLS} pools`;
  for (const { entry, pool, workers, isLong } of entries) {
    const name = PoolName.safeParse(pool);
    if (!name.success) return `"${entry}" is no pool: ${name.error.issues[0]?.message}`;
    const isCount = workers === undefined || (WORKERS.test(workers) && Number(workers) <= MAX_WORKERS);
    if (isLong || !isCount) return `"${entry}" must be a pool, or a pool and its workers (1 to ${MAX_WORKERS}): fast:20`;
    if (entries.filter((other) => other.pool === pool).length > 1) return `names ${pool} twice`;
  }
  return undefined;
}

/** What is wrong with it in combination with other settings. */
export function flawOfWorkers(pools: string, workerCount: number | "auto", serviceName = ""): string | undefined {
  const all = servedPools(pools, serviceName);
  if (all.length === 1) return undefined;
  const without = all.find(({ workers }) => workers === undefined);
  if (workerCount === "auto" && without !== undefined)
    return `of several pools each needs its workers, as in ${without.pool}:80, or WORKER_COUNT a number: they share one memory`;
  const tooLong = all.find((one) => serviceName !== "" && !ServiceName.safeParse(one.serviceName).success);
  return tooLong && `${tooLong.serviceName} is too long for the name of a service: 128 characters at most`;
}
