import {
  type CreateObserver,
  newObserverId,
  type ObserverId,
  type ObserverView,
  type Silence,
  type SpecField,
  type WhenFull,
} from "@unacked/contracts";
import { sameJson } from "../../domain/same-json.ts";

/** An observer about to be: already validated. */
export interface NewObserver {
  id: ObserverId;
  name: string;
  type: string;
  params: unknown;
  labels: Record<string, string>;
  pool: string;
  retry: unknown;
  /** Null: as its type says. */
  silence?: Silence | null | undefined;
  whenFull?: WhenFull;
  /** ISO 8601. */
  startAt?: string | undefined;
  /** That time has not come: this is decided in the transaction that creates it. */
  startsLater?: boolean;
  /** Only an observer that is recorded again brings these three; otherwise they are 1 and now. */
  revision?: number;
  specVersion?: number;
  createdAt?: string;
  /** The trace of the call that it came with; its start carries it on. */
  traceContext?: string | undefined;
}

/** A request as it will stand in the books; an id is made where the client chose none. */
export function newObserver(request: CreateObserver, traceContext?: string): NewObserver {
  const { id = newObserverId(), whenFull, startAt } = request;
  return { id, ...contentOf(request), whenFull, startAt, traceContext };
}

/**
 * Whether a POST repeats that of an observer which is there, and does not want another one with the same id. The books do not have what an
 * observer was created with that was changed since: there only what never changes can tell. The order in which a client writes its fields
 * is no difference, nor is −0.
 */
export function isRepeated(request: NewObserver, there: ObserverView): boolean {
  const isSame = msOf(request.startAt) === msOf(there.startAt) && request.name === there.name && request.type === there.type;
  if (!isSame || there.specVersion > 1) return isSame;
  return sameJson(contentOf(request), contentOf(there));
}

/** In milliseconds, as REST answers. */
const msOf = (time: string | null | undefined): number | null => (typeof time === "string" ? Date.parse(time) : null);

/** What a client asks for in an observer, and what a service is given of it: the same fields wherever they stand. */
type Content = Pick<NewObserver, "name" | "type" | SpecField>;

export function contentOf<From extends Content>({
  name,
  type,
  params,
  labels,
  pool,
  retry,
  silence = null,
}: From): Pick<From, Exclude<keyof Content, "silence">> & { silence: Silence | null } {
  return { name, type, params, labels, pool, retry, silence };
}
