import type { CreateObserver } from "@unacked/contracts";
import { allInOrder } from "../all-in-order.ts";
import type { BooksTransaction } from "../books/books-store.ts";
import type { NewObserver } from "./new-observer.ts";
import { WorkersLeft } from "./workers-left.ts";

interface Wanting {
  request: Pick<CreateObserver, "whenFull">;
  observer: Pick<NewObserver, "pool" | "type" | "startsLater">;
}

/** By pool; of one that is not in it nobody asks for workers. */
export type FreeByPool = ReadonlyMap<string, WorkersLeft>;

/** It is refused where no worker is free. What starts later needs none now. */
export const mustFindWorker = ({ request, observer }: Wanting): boolean =>
  request.whenFull === "reject" && observer.startsLater !== true;

/** Asked at once, and done in this order: nobody else decides about these pools while their workers are counted. */
export async function lockFreeWorkers(tx: BooksTransaction, wanting: readonly Wanting[]): Promise<FreeByPool> {
  const wanted = wanting.filter(mustFindWorker);
  const pools = [...new Set(wanted.map(({ observer }) => observer.pool))].toSorted();
  const locked = pools.map((pool) => tx.lockPool(pool));
  const counted = pools.map(async (pool): Promise<[string, WorkersLeft]> => {
    const types = wanting.flatMap(({ observer }) => (observer.pool === pool ? [observer.type] : []));
    return [pool, new WorkersLeft(await tx.freeWorkers(pool, [...new Set(types)]))];
  });
  const [, free] = await allInOrder([allInOrder(locked), allInOrder(counted)]);
  return new Map(free);
}

/** Whether they are enough for all these, whoever comes first. */
export function wouldSuffice(free: FreeByPool, wanted: readonly { pool: string; type: string }[]): boolean {
  const left = new Map([...free].map(([pool, workers]) => [pool, workers.copy()]));
  for (const { pool, type } of wanted) {
    const workers = left.get(pool);
    if (workers === undefined) continue;
    if (workers.of(type) <= 0) return false;
    workers.take(type);
  }
  return true;
}
