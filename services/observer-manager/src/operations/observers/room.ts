import type { ProblemCode } from "@unacked/contracts";
import type { Books } from "../../domain/books/books.ts";
import type { ObserverBook } from "../../domain/books/observer-book.ts";
import type { BooksTransaction } from "../books/books-store.ts";
import { lockFreeWorkers } from "./free-workers.ts";

/** Takes a worker for an observer that is to run again, and says why not. */
export type Room = (observer: ObserverBook) => ProblemCode | null;

/** An observer that finds no worker waits for one. */
export const ROOM_FOR_ALL: Room = () => null;

/** An observer that is being paused has its place still, and one that goes on waiting for its time needs none. */
const needsWorker = ({ status, startsLater }: ObserverBook): boolean =>
  !startsLater && (status === "Paused" || status === "Scheduled");

/** First come, first served. The pools are locked until the transaction ends, so that the answer holds. */
export async function roomFor(tx: BooksTransaction, books: Books): Promise<Room> {
  const typesOf = new Map<string, Set<string>>();
  for (const { pool, type } of [...books.observers.values()].filter(needsWorker))
    typesOf.set(pool, (typesOf.get(pool) ?? new Set()).add(type));
  const left = await lockFreeWorkers(tx, typesOf);
  return (observer) => {
    const workers = needsWorker(observer) ? left.get(observer.pool) : undefined;
    if (workers === undefined) return null;
    if (workers.of(observer.type) <= 0) return "no-free-worker";
    workers.take(observer.type);
    return null;
  };
}
