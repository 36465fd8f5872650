import { CreateTimer, newUuid, type TimerId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { TimerDesk } from "../../../services/observer-manager/src/operations/timers/timer-desk.ts";
import type {
  TimerCancel,
  TimerPut,
  TimerStore,
} from "../../../services/observer-manager/src/operations/timers/timer-store.ts";
import { SOMEBODY } from "../../support/servers/books.ts";

/** A desk, and what its transactions had: how many. */
function writing() {
  const sizes: number[] = [];
  const write = async <Kind extends string>(ids: TimerId[], kind: Kind) => {
    sizes.push(ids.length);
    await new Promise((resolve) => setImmediate(resolve)); // the others have come meanwhile
    return ids.map((id) => ({ kind, timer: { id, status: "Cancelled" } }));
  };
  const store = {
    put: (puts: TimerPut[]) =>
      write(
        puts.map(({ timer }) => timer.id),
        "created",
      ),
    cancel: (cancels: TimerCancel[]) =>
      write(
        cancels.map(({ id }) => id),
        "cancelled",
      ),
  } as unknown as TimerStore;
  return { sizes, desk: new TimerDesk({ store, wake() {} }) };
}

const timerOf = (payload: unknown) => CreateTimer.parse({ id: newUuid(), name: "n", at: "2100-01-01T00:00:00Z", payload });

test("Cancels, of which each is shown its payload of up to 64 KiB, share a transaction by no more than a page has", async () => {
  const { sizes, desk } = writing();
  await Promise.all(Array.from({ length: 1_000 }, () => desk.cancelTimer(newUuid() as TimerId, SOMEBODY)));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000);
  expect(Math.max(...sizes)).toBe(128);
});

test.each([
  ["short", 1, 999],
  ["long", 64_000, 256],
])(
  "Timers whose payloads are %s share a transaction with so many that it has 16 MiB of them at most",
  async (_, length, most) => {
    const { sizes, desk } = writing();
    const put = () => desk.putTimers([timerOf("x".repeat(length))], SOMEBODY);
    await Promise.all(Array.from({ length: 1_000 }, put));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(most);
    expect(Math.max(...sizes)).toBeGreaterThan(most * 0.9);
  },
);
