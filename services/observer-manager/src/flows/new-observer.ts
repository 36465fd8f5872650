import { isDeepStrictEqual } from "node:util";
import { type CreateObserver, newObserverId, type ObserverView } from "@unacked/contracts";
import type { NewObserver } from "./books-store.ts";

/** A request as it will stand in the books; an id is made where the client chose none. */
export function newObserver(request: CreateObserver, traceContext?: string): NewObserver {
  const { id, name, type, params, labels, pool, retry } = request;
  return { id: id ?? newObserverId(), name, type, params, labels, pool, retry, traceContext };
}

/**
 * Whether a POST is that of an observer which is there, once more, and not another one with the same id. Nothing of what a request
 * holds is ever changed in the books. The order in which a client writes its fields is no difference, nor is −0.
 */
export function isRepeated(request: NewObserver, there: ObserverView): boolean {
  return isDeepStrictEqual(contentOf(request), contentOf(there));
}

const contentOf = ({ name, type, params, labels, pool, retry }: NewObserver | ObserverView): unknown =>
  JSON.parse(JSON.stringify({ name, type, params, labels, pool, retry }));
