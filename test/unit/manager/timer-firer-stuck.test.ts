import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TimerPublisher } from "../../../services/observer-manager/src/adapters/amqp/timers/timer-publisher.ts";
import { TimerFirer } from "../../../services/observer-manager/src/operations/timers/timer-firer.ts";

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

/** A connection to a broker whose queue for `stuck` confirms nothing. Given up where a confirm is missing. */
function connection(heard: (name: string) => void): Publisher {
  let isUp = true;
  let stuck = 0;
  let open: ((error: PublishError) => void)[] = [];
  const end = (reject: (error: PublishError) => void, messageId: string) => {
    isUp = false;
    reject(new PublishError("too-late", messageId, "no confirm"));
    for (const other of open) other(new PublishError("lost", messageId, "no confirm"));
    open = [];
    stuck = 0;
    setTimeout(() => {
      isUp = true;
    }, 300);
  };
  const publish = ({ routingKey, messageId }: Outgoing) =>
    new Promise<void>((resolve, reject) => {
      if (!isUp) return reject(new PublishError("unavailable", messageId, "not connected"));
      if (routingKey === "stuck") stuck += 1;
      else if (stuck <= MOST_UNCONFIRMED)
        return void setTimeout(() => {
          heard(messageId);
          resolve();
        }, 2);
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
  const waiting: Timer[] = [];
  const claims = new Map<string, Timer[]>();
  const add = (id: string, name: string) => {
    const nowMs = performance.now();
    waiting.push({ id, name, atMs: nowMs, nextMs: nowMs, returns: 0 });
  };
  const store = {
    async claim({ claimId }: { claimId: string }, limit: number) {
      await wait(5);
      waiting.sort((one, other) => one.nextMs - other.nextMs);
      const count = waiting.filter(({ nextMs }) => nextMs <= performance.now()).length;
      const due = waiting.splice(0, Math.min(limit, count));
      claims.set(claimId, due);
      return { due: due.map((one) => ({ ...one, payload: "1", lateMs: 0 })), expired: 0, isCut: false };
    },
    async giveBack(claimId: string, outcome: string, ids: string[]) {
      await wait(5);
      for (const timer of claims.get(claimId) ?? []) {
        if (!ids.includes(timer.id)) continue;
        const isDueAtOnce = outcome === "unknown" || outcome === "not-sent";
        const pauseMs = Math.min(30, 2 ** Math.min(timer.returns, 5)) * 1_000;
        if (isDueAtOnce) waiting.push({ ...timer, nextMs: timer.atMs });
        else waiting.push({ ...timer, nextMs: performance.now() + pauseMs, returns: timer.returns + 1 });
      }
    },
    fired: () => wait(5),
    finish: () => wait(5),
    async nextDueInMs() {
      await wait(5);
      const nextMs = Math.min(...waiting.map((one) => one.nextMs));
      return Number.isFinite(nextMs) ? nextMs - performance.now() : null;
    },
  };
  return { add, store };
}

test.each([10, 100, 3_000])(
  "%i timers for a queue that confirms nothing hold up none of another name, however long it does",
  async (count) => {
    const { add, store } = books();
    const dueAtMs = new Map<string, number>();
    const lateMs: number[] = [];
    const heard = (id: string) => lateMs.push(performance.now() - (dueAtMs.get(id) ?? Number.NaN));
    const [main, aside] = [connection(heard), connection(heard)];
    const timers = new TimerPublisher(main, aside);
    const sender = {
      ready: () => main.writable(),
      send: ({ id, name }: { id: string; name: string }) => timers.publish({ routingKey: name, messageId: id } as Outgoing),
    };
    const firer = new TimerFirer({ owner: "o", store, sender, tally: { expired() {}, tried() {} }, log } as never);
    for (let i = 0; i < count; i += 1) add(`stuck-${i}`, "stuck");
    firer.start();
    for (let i = 0; i < 120; i += 1) {
      const id = `healthy-${i}`;
      dueAtMs.set(id, performance.now());
      add(id, "healthy");
      firer.wake();
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(lateMs.length).toBeGreaterThanOrEqual(119);
    expect(Math.max(...lateMs)).toBeLessThan(3_000);
  },
  60_000,
);
