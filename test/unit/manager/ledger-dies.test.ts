import {
  type ErrorReason,
  type EventBatch,
  newObserverId,
  newRunId,
  newServiceId,
  type ObserverId,
  type RunId,
  type ServiceEvent,
} from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type { ReceivedMessage } from "../../../services/observer-manager/src/domain/books/received-message.ts";
import type { NewError } from "../../../services/observer-manager/src/operations/books/books-store.ts";
import { Ledger } from "../../../services/observer-manager/src/operations/books/ledger.ts";
import type { Tally } from "../../../services/observer-manager/src/operations/tally.ts";
import { Dying, deathsIn } from "../../support/ports/dying.ts";
import { MemoryBooks, messageId } from "../../support/ports/memory-books.ts";

/** What metrics are told: of each error its reason, and which runs the books met. */
function keptTally() {
  const [reasons, happened]: [ErrorReason[], string[]] = [[], []];
  const tally: Tally = {
    applied: (done) => void happened.push(...done.happened.map(({ kind }) => kind)),
    putAside: (all) => void reasons.push(...all),
    sent() {},
  };
  return { tally, reasons, happened };
}

const [observerId, other] = [newObserverId(), newObserverId()];
const [serviceId, namesake] = [newServiceId(), newServiceId()];

const batch = (seq: number, events: ServiceEvent[], more: object = {}): ReceivedMessage => ({
  ...({ kind: "EventBatch", serviceId, serviceName: "s", pool: "default", workerCount: 2, generation: 1 } as EventBatch),
  seq,
  events,
  ...more,
});
const runOf = (id: ObserverId, runId: RunId) => ({ observerId: id, runId, messageId: messageId(1), revision: 1, at: 1_000 });
const [first, second] = [runOf(observerId, newRunId()), runOf(other, newRunId())];
const error = (message: string) => ({ name: "Error", message });
const unreadable: Omit<NewError, "reporter"> = {
  reason: "unreadable",
  detail: "no JSON",
  queue: "unacked.state",
  messageId: messageId(2),
  body: "{",
  bodyBytes: 1,
};

interface Story {
  messages: ReceivedMessage[];
  unreadable?: Omit<NewError, "reporter">[];
  /** How often each of these stands in the books when all is over. */
  leaves: { runs: number; errors: number; kept?: number; lastSeq: number };
}

const STORIES: Record<string, Story> = {
  "two batches and a message that nobody can read": {
    messages: [
      batch(1, [{ kind: "RunStarted", ...first, attempt: 1 }]),
      batch(2, [
        { kind: "RunStarted", ...second, attempt: 1 },
        { kind: "RunCompleted", ...first },
      ]),
    ],
    unreadable: [unreadable],
    leaves: { runs: 2, errors: 1, lastSeq: 2 },
  },
  "a sign of life": {
    messages: [
      batch(1, [
        { kind: "ServiceAlive", at: 1, workerCount: 2, running: 0, memoryBytes: 1, eventLoopLagMs: 0, draining: false },
      ]),
    ],
    leaves: { runs: 0, errors: 0, lastSeq: 1 },
  },
  "an event that the database refuses, between two that it takes": {
    messages: [
      batch(1, [
        { kind: "RunStarted", ...first, attempt: 1 },
        { kind: "RunRetrying", ...first, attempt: 1, error: error("\0"), delayMs: 5 },
        { kind: "RunStarted", ...second, attempt: 1 },
      ]),
    ],
    unreadable: [unreadable],
    leaves: { runs: 2, errors: 2, lastSeq: 1 },
  },
  "an event that this version does not understand": {
    messages: [
      batch(1, [{ kind: "RunStarted", ...first, attempt: 1 }], {
        leftOut: [{ item: { kind: "RunPaused", observerId, runId: first.runId }, reason: "unknown kind" }],
      }),
    ],
    leaves: { runs: 1, errors: 1, kept: 1, lastSeq: 1 },
  },
  "a death": {
    messages: [
      batch(1, [{ kind: "RunStarted", ...first, attempt: 1 }]),
      { kind: "DeathCertificate", serviceId, generation: 1 },
    ],
    leaves: { runs: 1, errors: 0, lastSeq: 1 },
  },
};

/** As they stand before: two observers whose starts are sent. */
function newBooks(): MemoryBooks {
  const books = new MemoryBooks();
  for (const id of [observerId, other]) books.put({ id });
  const service = { id: serviceId, name: "s", pool: "default", state: "Alive" as const, generation: 1, lastSeq: 0 };
  books.tables.services.set(serviceId, { ...service, drain: "none", features: [], types: [] } as never);
  books.tables.services.set(namesake, { ...service, id: namesake, state: "Gone", drain: "none" } as never);
  return books;
}

/** What one manager makes of the messages, as the queue gives them to it. */
async function applied(
  { messages, unreadable: unread }: Story,
  books: MemoryBooks,
  process?: Dying,
  { tally } = keptTally(),
): Promise<MemoryBooks> {
  const store = process === undefined ? books : books.of(process);
  await new Ledger(store, "a manager", tally).apply(structuredClone(messages), unread);
  return books;
}

describe.each(Object.entries(STORIES))("a ledger that is given %s", async (_, story) => {
  it("writes all of it, once", async () => {
    const books = await applied(story, newBooks());
    const { runs, errors, kept, services } = books.tables;
    expect({
      runs: runs.size,
      errors: errors.length,
      ...(kept.length > 0 && { kept: kept.length }),
      lastSeq: services.get(serviceId)?.lastSeq,
    }).toEqual(story.leaves);
  });

  it("has all of it counted, once", async () => {
    const told = keptTally();
    const { runs, errors } = (await applied(story, newBooks(), undefined, told)).tables;
    expect(told.reasons.toSorted()).toEqual(errors.map(({ reason }) => reason).toSorted());
    expect(told.happened.filter((kind) => kind === "run-started")).toHaveLength(runs.size);
  });

  it.each(await deathsIn((process) => applied(story, newBooks(), process)))(
    "and dies $when $step ($at) leaves a successor that makes of it what would be there without the death",
    async ({ at, when }) => {
      const books = newBooks();
      const process = new Dying(at, when);
      void applied(story, books, process);
      await process.died;
      await applied(story, books);
      expect(books.seen()).toEqual((await applied(story, newBooks())).seen());
    },
  );

  it("changes nothing when it comes once more", async () => {
    const books = await applied(story, newBooks());
    const seen = books.seen();
    await applied(story, books);
    expect(books.seen()).toEqual(seen);
  });
});
