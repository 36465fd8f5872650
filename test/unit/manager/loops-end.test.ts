import { expect, test, vi } from "vitest";
import { LateEvents } from "../../../services/observer-manager/src/operations/books/late-events.ts";
import { Retention } from "../../../services/observer-manager/src/operations/books/retention.ts";
import { Reconciler } from "../../../services/observer-manager/src/operations/observers/reconciler.ts";
import { QueueCare } from "../../../services/observer-manager/src/operations/pools/queue-care.ts";
import { Prober } from "../../../services/observer-manager/src/operations/services/prober.ts";
import { TaskProver } from "../../../services/observer-manager/src/operations/tasks/upkeep/task-prover.ts";
import { TaskRetention } from "../../../services/observer-manager/src/operations/tasks/upkeep/task-retention.ts";

interface Looping {
  start(): void;
  stop(): Promise<void>;
}

/** Books whose first answer takes its time. */
function slowBooks() {
  let asked = 0;
  let fail: (error: Error) => void = () => undefined;
  const answer = new Promise<never>((_, reject) => {
    fail = reject;
  });
  answer.catch(() => undefined);
  const ask = () => {
    asked += 1;
    return answer;
  };
  const books = new Proxy({}, { get: (_, name) => (name === "then" ? undefined : ask) });
  return { books, fail: (error: Error) => fail(error), wasAsked: () => asked > 0 };
}

const yes = () => true;
const loops: [string, (books: never, log: never) => Looping][] = [
  ["Prober", (store, log) => new Prober({ store, isCaughtUp: yes, probed() {}, log })],
  ["Reconciler", (store, log) => new Reconciler({ store, isCaughtUp: yes, log } as never)],
  ["QueueCare", (store, log) => new QueueCare({ store, queues: { isUp: false }, isCaughtUp: yes, log } as never)],
  ["Retention", (store, log) => new Retention({ store, retentionMs: 1, log })],
  ["LateEvents", (store, log) => new LateEvents({ store, log } as never)],
  ["TaskProver", (store, log) => new TaskProver({ store, markers: { writableForMs: 1e9 }, isCaughtUp: yes, log } as never)],
  ["TaskRetention", (days, log) => new TaskRetention({ days, log } as never)],
];

test.each(loops)("who stops %s waits for its round under way, which asks the books", async (_name, make) => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const { books, fail, wasAsked } = slowBooks();
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const loop = make(books as never, log as never);
  loop.start();
  for (let seconds = 0; seconds < 20 && !wasAsked(); seconds += 1) await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  expect(wasAsked()).toBe(true);
  let isStopped = false;
  const stopped = Promise.resolve(loop.stop()).then(() => {
    isStopped = true;
  });
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  fail(new Error("the books are gone"));
  await stopped;
});
