import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import type { Attempt } from "../../../services/observer-service/src/wire/attempt.ts";
import { eventually } from "../../support/eventually.ts";
import { openBareHandlers } from "../../support/slots/bare-folder.ts";

/* A handler that spoils its process for others, while the slot beside it is well. */

const log = createLog("silent");
let handlers: SlotHandlers;
/** By slot that was found spoilt: the type that failed there. */
let found: string[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  found = [];
  const warn = ({ event, type }: { event: string; type: string }) => void (event === "slot-spoilt" && found.push(type));
  handlers = await openBareHandlers(["spoil", "needy"], { count: 2, max: 9 }, Object.assign(createLog("silent"), { warn }));
});
afterEach(() => void vi.useRealTimers());

/** It tries again at once whenever it fails, but not for ever, and stays where it is when it is to move. */
function observe(type: string) {
  const start = { observerId: newObserverId(), name: type, type, labels: {}, params: {}, retry: DEFAULT_RETRY };
  const one: { failed: number; moved: number; isWell: boolean; attempt?: Attempt } = { failed: 0, moved: 0, isWell: false };
  const host = {
    tailOf: () => ({}),
    onSilence: () => void (one.isWell = true),
    onMoved: () => void (one.moved += 1),
    onSettled: (_: unknown, { outcome }: { outcome: string }) => {
      if (outcome !== "failed") return;
      one.failed += 1;
      if (one.failed < 20) begin();
    },
  };
  const begin = (): void => {
    one.attempt = handlers.start(host as never, { start, runId: newRunId(), log } as never);
  };
  begin();
  return one;
}

const runs = () => handlers.slots().map((slot) => slot.runs);
const isAll = (count: number) => eventually(() => expect(runs().reduce((sum, one) => sum + one, 0)).toBe(count));
const runsIn = (pid: number | undefined) => handlers.slots().find((slot) => slot.pid === pid)?.runs;

/** One more begins, and this time passes, until so many slots were found spoilt. */
async function needyUntilFound(slots: number, passMs: number) {
  const needy: ReturnType<typeof observe>[] = [];
  for (; found.length < slots; vi.advanceTimersByTime(passMs)) {
    expect(needy.length).toBeLessThan(100);
    const one = observe("needy");
    needy.push(one);
    await eventually(() => expect(one.isWell).toBe(true));
  }
  return needy;
}

test("Of those that begin few fail, and each once; after some the slot takes nothing more and another takes its place, and who spoilt it stays", async () => {
  const [first] = handlers.slots();
  const spoiler = observe("spoil");
  await isAll(1);
  const needy = await needyUntilFound(1, 3_000);
  const failed = needy.filter((one) => one.failed > 0);
  expect([failed.length, new Set(failed.map((one) => one.failed))]).toEqual([8, new Set([1])]);
  expect(needy.length).toBeGreaterThan(2 * failed.length);
  await eventually(() => expect(runs()).toHaveLength(4)); // with the spare
  for (let i = 0; i < 20; i += 1) needy.push(observe("needy"));
  await isAll(1 + needy.length);
  expect(runsIn(first?.pid)).toBe(1);
  expect(handlers.history.last()).toEqual([]);
  spoiler.attempt?.abort({ kind: "stopped" });
  await eventually(() => expect(handlers.history.last()).toHaveLength(1));
  expect(handlers.history.last()[0]).toMatchObject({
    reason: "other",
    why: expect.stringContaining("of type needy failed"),
  });
  expect([spoiler, ...needy].map((one) => one.moved)).not.toContain(1);
});

test("Not where they fail everywhere", async () => {
  for (let i = 0; i < 2; i += 1) observe("spoil");
  await isAll(2);
  const settled = vi.fn();
  for (let i = 0; i < 30; i += 1) {
    const start = { observerId: newObserverId(), name: "n", type: "needy", labels: {}, params: {}, retry: DEFAULT_RETRY };
    handlers.start({ onSettled: settled } as never, { start, runId: newRunId(), log } as never);
    await eventually(() => expect(settled).toHaveBeenCalledTimes(i + 1));
    vi.advanceTimersByTime(1_000);
  }
  expect(found).toEqual([]);
});

test("No more than one in ten minutes is set aside, and what stays in it is moved when the next is", async () => {
  const spoiler = observe("spoil");
  await isAll(1);
  const before = await needyUntilFound(1, 20_000);
  const foundAtMs = performance.now();
  await eventually(() => expect(runs()).toHaveLength(4));
  const next = observe("spoil");
  await isAll(2 + before.length);
  await needyUntilFound(2, 20_000);
  expect(performance.now() - foundAtMs).toBeGreaterThanOrEqual(600_000);
  expect([spoiler.moved, next.moved]).toEqual([1, 0]);
});
