import {
  looksLikeUuid,
  MAX_AUDITED_TARGETS,
  type ObserverFilter,
  type ObserverId,
  type ProblemCode,
} from "@unacked/contracts";
import type { Actor, AuditedActor } from "../../domain/access/identity.ts";
import type { ObserverInput } from "../../domain/observers/observer-machine.ts";
import { type Action, type ActionDone, doneTo, newAction } from "../access/audit.ts";
import type { BooksStore, BooksTransaction } from "../books/books-store.ts";
import type { Log } from "../log.ts";
import { ask, changeObservers } from "./observer-change.ts";
import type { BulkChange, BulkCount, ChangeOutcome, ObserverRef } from "./observer-tools.ts";
import { ROOM_FOR_ALL, roomFor } from "./room.ts";

/** Rows locked by one transaction: services' own events about them wait so long. */
const CHUNK = 1_000;
/** One transaction reads at most so much of what is shown of them. */
const MAX_CHUNK_BYTES = 8_388_608;
/**
 * One answer shows at most so much, as a batch may bring: ten thousand observers of 256 KiB each are more than a manager has memory for.
 */
const MAX_ANSWER_BYTES = 33_554_432;
/** So few never exceed that, however long each is. */
const FEW = 32;

export interface BulkParts {
  store: BooksStore;
  /** Told after each commit that wrote a command. */
  committed(): void;
  log: Log;
}

/**
 * What comes in: one wish for many observers, named or described. It guarantees: each that is answered "accepted" stands so
 * in the books with its command; the others have their reason. It works in chunks, each a transaction. A crash in the middle
 * leaves the chunks before it done and the rest as it was; the same call again then does only the rest.
 */
export class Bulk {
  readonly #parts: BulkParts;

  constructor(parts: BulkParts) {
    this.#parts = parts;
  }

  /** @param among with ids: only those are changed that match it when their turn comes */
  async changeObservers(
    refs: ObserverRef[],
    among: ObserverFilter | undefined,
    change: BulkChange,
    by: Actor,
  ): Promise<(ChangeOutcome | "left-alone")[]> {
    const input = inputOf(change);
    const action = change.dryRun ? null : actionOf(change, by, among);
    const sizes = refs.length > FEW ? await this.#parts.store.sizesOf(refs) : [];
    const done = await this.#inChunks(answeredTogether(refs, sizes), change, (tx, chunk) =>
      changeObservers(tx, chunk, input, action, { mustFindWorker: mustFindWorker(change), among }),
    );
    const outcomes = done.flat().map((outcome) => (among !== undefined && isNotFound(outcome) ? "left-alone" : outcome));
    const cutOff = refs.slice(outcomes.length).map((): ChangeOutcome => ({ kind: "problem", code: "batch-interrupted" }));
    return [...outcomes, ...cutOff];
  }

  async changeMatching(filter: ObserverFilter, change: BulkChange, by: Actor): Promise<BulkCount> {
    const ids = await this.#parts.store.findMatching(filter);
    const action = change.dryRun ? null : actionOf(change, by, filter);
    const counts = await this.#inChunks(chunksOf(ids), change, async (tx, chunk) => {
      const { accepted, refused } = await changeSome(tx, { ids: chunk, filter, change, action });
      const count = { ...noneYet(), matched: accepted.length + refused.length, accepted: accepted.length };
      for (const { code } of refused) count.refused[code] = (count.refused[code] ?? 0) + 1;
      return count;
    });
    const total = counts.reduce(add, noneYet());
    const cutOff = ids.length - counts.length * CHUNK;
    return cutOff <= 0 ? total : add(total, { matched: cutOff, accepted: 0, refused: { "batch-interrupted": cutOff } });
  }

  /** The results of the chunks that went through. Throws while there is none: then nothing has been changed. */
  async #inChunks<Item, Result>(
    chunks: readonly Item[][],
    { dryRun }: BulkChange,
    work: (tx: BooksTransaction, chunk: Item[]) => Promise<Result>,
  ): Promise<Result[]> {
    const { store, committed, log } = this.#parts;
    const results: Result[] = [];
    for (const chunk of chunks) {
      try {
        results.push(await store.inTransaction((tx) => work(tx, chunk)));
      } catch (error) {
        if (results.length === 0 || dryRun) throw error;
        const countOf = (some: readonly Item[][]) => some.reduce((sum, { length }) => sum + length, 0);
        const counts = { done: countOf(chunks.slice(0, results.length)), of: countOf(chunks) };
        log.warn({ err: error, ...counts }, "a change of many was cut short");
        return results;
      }
      if (!dryRun) committed();
    }
    return results;
  }
}

const chunksOf = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, i) => items.slice(i * CHUNK, (i + 1) * CHUNK));

/**
 * What is shown of them all is one answer: as many refs as fit into it, in the chunks of their transactions. The first is in it, however
 * long.
 * @param sizes the bytes that are shown of each; empty: they are few
 */
export function answeredTogether(refs: readonly ObserverRef[], sizes: readonly number[]): ObserverRef[][] {
  const chunks: ObserverRef[][] = [];
  let [bytes, bytesOfChunk] = [0, 0];
  for (const [i, ref] of refs.entries()) {
    const size = sizes[i] ?? 0;
    bytes += size;
    if (bytes > MAX_ANSWER_BYTES && i > 0) break;
    const chunk = chunks.at(-1);
    const fits = chunk !== undefined && chunk.length < CHUNK && bytesOfChunk + size <= MAX_CHUNK_BYTES;
    if (fits) chunk.push(ref);
    else chunks.push([ref]);
    bytesOfChunk = fits ? bytesOfChunk + size : size;
  }
  return chunks;
}

/** What one transaction asks of some. */
export interface SomeChange {
  ids: ObserverId[];
  filter: ObserverFilter;
  change: BulkChange;
  /** Null: it only answers as if; nothing is written. */
  action: Action | null;
}

export interface SomeChanged {
  accepted: ObserverId[];
  refused: { id: ObserverId; code: ProblemCode }[];
  /** How many of those accepted were not so already. */
  changed: number;
}

/**
 * Asks the same of those of these that still match, and writes what came of it. Those that are accepted stand so in the books, with their
 * commands.
 */
export async function changeSome(tx: BooksTransaction, { ids, filter, change, action }: SomeChange): Promise<SomeChanged> {
  const books = await tx.loadMatching(ids, filter);
  books.traceContext = action?.by.traceContext;
  const room = mustFindWorker(change) ? await roomFor(tx, books) : ROOM_FOR_ALL;
  const input = inputOf(change);
  const accepted: ObserverId[] = [];
  const changed: ObserverId[] = [];
  const refused: { id: ObserverId; code: ProblemCode }[] = [];
  for (const observer of books.observers.values()) {
    const asked = ask(books, observer, input, room);
    if ("problem" in asked) refused.push({ id: observer.id, code: asked.problem });
    else accepted.push(observer.id);
    if ("changes" in asked && asked.changes) changed.push(observer.id);
  }
  if (action && accepted.length > 0) await tx.write(books);
  if (action && changed.length > 0) await tx.recordActions([await doneToMany(tx, action, changed)]);
  return { accepted, refused, changed: changed.length };
}

export function actionOf(
  { kind, force }: BulkChange,
  by: AuditedActor,
  filter?: ObserverFilter,
  more: Record<string, unknown> = {},
): Action {
  return newAction(`observer.${kind}`, by, { force: force || undefined, filter: filter && inTheTrail(filter), ...more });
}

/** The filter in the form in which the trail has always told it. */
const inTheTrail = ({ status, service, labels = {}, q, ...rest }: ObserverFilter): object => ({
  ...rest,
  statuses: [status ?? []].flat(),
  nameContains: q,
  service: service === undefined ? undefined : refOf(service),
  labels: Object.entries(labels).map(([key, value]) => ({ key, value })),
});

const refOf = (service: string) =>
  looksLikeUuid(service) ? { kind: "id", id: service.toLowerCase() } : { kind: "name", name: service };

/** Reads the names of those alone that the trail names. */
async function doneToMany(tx: BooksTransaction, action: Action, ids: ObserverId[]): Promise<ActionDone> {
  const named = await tx.viewObservers(ids.slice(0, MAX_AUDITED_TARGETS));
  return doneTo(action, [...named.values()], ids.length);
}

function inputOf({ kind, force }: BulkChange): ObserverInput {
  switch (kind) {
    case "stop":
      return force ? "force-delete" : "delete";
    case "restart":
    case "pause":
    case "resume":
      return kind;
    default:
      return kind satisfies never;
  }
}

/** With a filter it means: not among those that match. */
const isNotFound = (outcome: ChangeOutcome): boolean => outcome.kind === "problem" && outcome.code === "observer-not-found";

const mustFindWorker = ({ kind, whenFull }: BulkChange): boolean => kind === "resume" && whenFull !== "queue";

const noneYet = (): BulkCount => ({ matched: 0, accepted: 0, refused: {} });

function add(a: BulkCount, b: BulkCount): BulkCount {
  const refused = { ...a.refused };
  for (const [code, count] of Object.entries(b.refused) as [keyof BulkCount["refused"], number][])
    refused[code] = (refused[code] ?? 0) + count;
  return { matched: a.matched + b.matched, accepted: a.accepted + b.accepted, refused };
}
