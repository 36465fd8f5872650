import type { ObserverId, ObserverView } from "@unacked/contracts";
import { contentOf } from "../observers/new-observer.ts";
import type { DueCommand } from "./command-store.ts";

export type Start = NonNullable<Extract<DueCommand, { kind: "start" }>["start"]>;

/**
 * Starts that the transaction which creates their observers writes as claimed by this manager already: they need neither be claimed nor
 * read back to be sent. Where that cannot be they are due, for any manager.
 */
export interface OwnStarts {
  /**
   * The claim for some that can be sent at once; undefined: they are to be due. It holds for CLAIM_HOLDS_MS.
   * @param size of all together, each by its params (sizeOfParams), and 1 at least
   */
  claim(count: number, size: number): string | undefined;
  /** Sends what was written under the claim, once that has committed. */
  send(starts: OwnStart[]): void;
}

export type OwnStart = Pick<DueCommand, "id" | "traceContext"> & { start: Start };

export function startOf(observer: ObserverView): Start {
  const { revision, specVersion, createdAt } = observer;
  return { observerId: observer.id as ObserverId, revision, ...contentOf(observer), specVersion, createdAt };
}
