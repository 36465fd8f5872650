import type { CreateObserver } from "@unacked/contracts";
import { grouped } from "../../domain/grouped.ts";
import { allInOrder } from "../all-in-order.ts";
import type { BooksTransaction } from "../books/books-store.ts";
import type { NewObserver } from "./new-observer.ts";
import { WorkersLeft } from "./workers-left.ts";

interface Wanting {
  request: Pick<CreateObserver, "whenFull">;
  observer: Pick<NewObserver, "pool" | "type" | "startsLater">;
}

/** Pools that are not in it have nobody who asks for workers. */
export type FreeByPool = ReadonlyMap<string, WorkersLeft>;

/** It is refused where no worker is free. What starts later needs none now. */
export const mustFindWorker = ({ request, observer }: Wanting): boolean =>
  request.whenFull === "reject" && observer.startsLater !== true;

/** For each pool in which one of these must find a worker, the types of all that go there. */
export function typesToCount(wanting: readonly Wanting[]): Map<string, Set<string>> {
  const pools = new Set(wanting.filter(mustFindWorker).map(({ observer }) => observer.pool));
  const counted = wanting.filter(({ observer }) => pools.has(observer.pool));
  const byPool = grouped(counted, ({ observer }) => observer.pool);
  return new Map([...byPool].map(([pool, of]) => [pool, new Set(of.map(({ observer }) => observer.type))]));
}

/**
 * All is asked at once, and done in this order: nobody else decides about these pools until the transaction ends, so that the answer holds.
 */
export async function lockFreeWorkers(
  tx: BooksTransaction,
  typesOf: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<FreeByPool> {
  const pools = [...typesOf.keys()].toSorted();
  const locked = pools.map((pool) => tx.lockPool(pool));
  const counted = pools.map(async (pool): Promise<[string, WorkersLeft]> => {
    return [pool, new WorkersLeft(await tx.freeWorkers(pool, [...(typesOf.get(pool) ?? [])]))];
  });
  const [, free] = await allInOrder([allInOrder(locked), allInOrder(counted)]);
  return new Map(free);
}

/** Whether the workers are enough for all these, whoever comes first. */
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
