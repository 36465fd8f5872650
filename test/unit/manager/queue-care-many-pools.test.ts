import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { QueueCare } from "../../../services/observer-manager/src/operations/pools/queue-care.ts";
import { keptLog } from "../../support/servers/books.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`);
/** Their queues have a consumer that the books do not know: they stay. */
const KEPT = numbered("kept", 60);
/** Their queues are gone long since. */
const GONE = numbered("gone", 400);

test("The queue of a pool that nobody wants is removed, however many others there are that cannot be, or are gone", async () => {
  const removed: string[] = [];
  const look = async (pool: string) => {
    if (KEPT.includes(pool)) return { ready: 0, consumers: 1 };
    return pool === "left" && removed.length === 0 ? { ready: 0, consumers: 0 } : "gone";
  };
  let shown = 0;
  const care = new QueueCare({
    store: { pools: async () => ({ wanted: [], leftover: [...KEPT, ...GONE, "left"] }), messagesLeftBehind: async () => 0 },
    queues: {
      isUp: true,
      keep: async () => undefined,
      look,
      remove: async (pool: string) => ({ kind: "removed", messages: removed.push(pool) }),
      showUnwanted: (unwanted) => void (shown = unwanted.length),
    },
    isCaughtUp: () => true,
    log: keptLog(),
  });
  care.start();
  await vi.advanceTimersByTimeAsync(120_000);
  void care.stop();
  expect(removed).toEqual(["left"]);
  expect(shown).toBe(KEPT.length);
});
