import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TimerPublisher } from "../../../services/observer-manager/src/adapters/amqp/timers/timer-publisher.ts";
import { TimerFirer } from "../../../services/observer-manager/src/operations/timers/timer-firer.ts";
import type { Tries } from "../../../services/observer-manager/src/operations/timers/timer-store.ts";

/** Which vitest leaves as it is. */
vi.mock("node:timers/promises", () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}));
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** RabbitMQ reads no more from a connection that has so many open for a quorum queue that confirms nothing. */
const MOST_UNCONFIRMED = 32;
const CONFIRM_TIMEOUT_MS = 10_000;

interface Queues {
  /** Of all names but those that begin with `stuck`. */
  confirmMs: number;
  refused: string | undefined;
}

/** A connection to a broker whose queues for `stuck…`, one for each name, confirm nothing. Given up where a confirm is missing. */
function connection(heard: (id: string) => void, queues: Queues): Publisher {
  let isUp = true;
  const stuck = new Map<string, number>();
  let open: ((error: PublishError) => void)[] = [];
  const toldHeldUp: (() => void)[] = [];
  const end = (reject: (error: PublishError) => void, messageId: string) => {
    isUp = false;
    reject(new PublishError("too-late", messageId, "no confirm"));
    for (const other of open) other(new PublishError("lost", messageId, "no confirm"));
    open = [];
    stuck.clear();
    for (const tell of toldHeldUp.splice(0)) tell();
    setTimeout(() => {
      isUp = true;
    }, 300);
  };
  const publish = ({ routingKey, messageId }: Outgoing) =>
    new Promise<void>((resolve, reject) => {
      if (!isUp) return reject(new PublishError("unavailable", messageId, "not connected"));
      const isRead = Math.max(0, ...stuck.values()) <= MOST_UNCONFIRMED;
      if (routingKey.startsWith("stuck")) stuck.set(routingKey, (stuck.get(routingKey) ?? 0) + 1);
      else if (isRead)
        setTimeout(() => {
          if (!open.includes(reject)) return;
          open = open.filter((other) => other !== reject);
          if (queues.refused === routingKey) return reject(new PublishError("nacked", messageId, "refused"));
          heard(messageId);
          resolve();
        }, queues.confirmMs);
      open.push(reject);
      setTimeout(() => {
        if (open.includes(reject)) end(reject, messageId);
      }, CONFIRM_TIMEOUT_MS);
    });
  const publisher = {
    publish,
    start() {},
    startOver() {},
    get isWritable() {
      return isUp;
    },
    heldUp: () => new Promise<void>((resolve) => void (isUp ? toldHeldUp.push(resolve) : resolve())),
    async writable() {
      while (!isUp) await wait(10);
    },
  };
  return publisher as unknown as Publisher;
}

interface Timer {
  id: string;
  name: string;
  atMs: number;
  nextMs: number;
  returns: number;
}

/** As PostgreSQL does: claims go by `next_at`, and what is given back waits 1 s, 2 s … 30 s, or is due at once. */
function books() {
  const waiting = new Set<Timer>();
  const of = (tries: Tries) => [...waiting].filter(({ returns }) => returns > 0 === (tries === "again"));
  const claims = new Map<string, Timer[]>();
  const add = (id: string, name: string) => {
    const nowMs = performance.now();
    waiting.add({ id, name, atMs: nowMs, nextMs: nowMs, returns: 0 });
  };
  const store = {
    async claim({ claimId }: { claimId: string }, limit: number, tries: Tries) {
      await wait(5);
      const due = of(tries)
        .filter(({ nextMs }) => nextMs <= performance.now())
        .sort((one, other) => one.nextMs - other.nextMs)
        .slice(0, limit);
      for (const timer of due) waiting.delete(timer);
      claims.set(claimId, due);
      return { due: due.map((one) => ({ ...one, payload: "1", lateMs: 0 })), expired: 0, isCut: false };
    },
    async giveBack(claimId: string, outcome: string, ids: string[]) {
      await wait(5);
      for (const timer of claims.get(claimId) ?? []) {
        if (!ids.includes(timer.id)) continue;
        const isDueAtOnce = outcome === "unknown" || outcome === "not-sent";
        const pauseMs = Math.min(30, 2 ** Math.min(timer.returns, 5)) * 1_000;
        if (isDueAtOnce) waiting.add({ ...timer, nextMs: timer.atMs });
        else waiting.add({ ...timer, nextMs: performance.now() + pauseMs, returns: timer.returns + 1 });
      }
    },
    fired: () => wait(5),
    finish: () => wait(5),
    async nextDueInMs(tries: Tries) {
      await wait(5);
      const nextMs = Math.min(...of(tries).map((one) => one.nextMs));
      return Number.isFinite(nextMs) ? nextMs - performance.now() : null;
    },
  };
  return { add, store };
}

/** A manager that fires what is added. `lateMs`: of what was heard. */
function firing() {
  const { add: put, store } = books();
  const queues: Queues = { confirmMs: 2, refused: undefined };
  const dueAtMs = new Map<string, number>();
  const lateMs = new Map<string, number>();
  const heard = (id: string) => lateMs.set(id, performance.now() - (dueAtMs.get(id) ?? Number.NaN));
  const [main, aside] = [connection(heard, queues), connection(heard, queues)];
  const timers = new TimerPublisher(main, aside);
  const sender = {
    ready: () => main.writable(),
    send: ({ id, name }: { id: string; name: string }) => timers.publish({ routingKey: name, messageId: id } as Outgoing),
  };
  const tally = { expired() {}, tried() {} };
  const firerOf = (tries: Tries) => new TimerFirer({ owner: "o", tries, store, sender, tally, log } as never);
  const [firer, again] = [firerOf("first"), firerOf("again")];
  again.start();
  const add = (id: string, name: string) => {
    dueAtMs.set(id, performance.now());
    put(id, name);
    firer.wake();
  };
  return { firer, queues, lateMs, add };
}

test.each([10, 100, 3_000])(
  "%i timers for a queue that confirms nothing hold up none of another name, however long it does",
  async (count) => {
    const { firer, lateMs, add } = firing();
    for (let i = 0; i < count; i += 1) add(`stuck-${i}`, "stuck");
    firer.start();
    for (let i = 0; i < 120; i += 1) {
      add(`healthy-${i}`, "healthy");
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(lateMs.size).toBeGreaterThanOrEqual(119);
    expect(Math.max(...lateMs.values())).toBeLessThan(3_000);
  },
  60_000,
);

test("Forty names that confirm nothing do not keep one aside that was refused once", async () => {
  const { firer, queues, lateMs, add } = firing();
  firer.start();
  for (let i = 0; i < 1_000; i += 1) {
    add(`stuck-${i}`, `stuck.${i % 40}`);
    if (i % 10 === 9) await vi.advanceTimersByTimeAsync(1_200);
  }
  for (let i = 0; i < 5; i += 1) {
    queues.refused = `healthy.${i}`;
    add(`healthy-${i}`, queues.refused);
    await vi.advanceTimersByTimeAsync(300);
    queues.refused = undefined;
    await vi.advanceTimersByTimeAsync(3_000);
  }
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lateMs.size).toBe(5);
  expect(Math.max(...lateMs.values())).toBeLessThan(60_000);
}, 60_000);

test("A queue that confirms slowly is given as much as it takes", async () => {
  const { firer, queues, lateMs, add } = firing();
  queues.confirmMs = 2_000;
  for (let i = 0; i < 500; i += 1) add(`slow-${i}`, "slow");
  firer.start();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(lateMs.size).toBe(500);
}, 60_000);
