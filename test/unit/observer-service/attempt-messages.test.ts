import type { TaskId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { RunTail } from "../../../services/observer-service/src/keeper/runs/run-tail.ts";
import { AttemptMessages } from "../../../services/observer-service/src/keeper/slots/handlers/attempt-messages.ts";
import type { Placed } from "../../../services/observer-service/src/keeper/slots/placement/placed.ts";
import { FromSlotSchema } from "../../../services/observer-service/src/keeper/slots/process/slot-messages.ts";
import type { Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import type { ToSlot } from "../../../services/observer-service/src/wire/messages.ts";

test("An emit and a save of a run that has settled are answered: its slot counts what is under way", () => {
  const sent: ToSlot[] = [];
  const slot = { process: { send: (message: ToSlot) => sent.push(message) } } as unknown as Slot;
  const messages = new AttemptMessages({
    log: createLog("silent"),
    occupants: { find: () => undefined },
    over: () => expect.fail("it was over before"),
    ends: () => expect.fail("nothing ends its slot"),
  });
  messages.take(slot, { kind: "emit", attempt: 1, emit: 7, json: "1" });
  messages.take(slot, { kind: "save", attempt: 1, save: 2, json: "1" });
  messages.take(slot, { kind: "silence", attempt: 1, quietForMs: 1_000 });
  expect(sent).toMatchObject([
    { kind: "emitted", attempt: 1, emit: 7, error: { name: "SdkError", code: "emit-after-end" } },
    { kind: "saved", attempt: 1, save: 2, error: { name: "SdkError", code: "save-after-end" } },
  ]);
});

test("One that its slot has told to end is moved, but not where its keeper has told it so before", () => {
  const moved: unknown[] = [];
  const host = { onMoved: (_run: unknown, { detail }: { detail: string }) => moved.push(detail) };
  const placed = { id: 1, host, run: { log: createLog("silent") }, cause: undefined } as unknown as Placed;
  const messages = new AttemptMessages({
    log: createLog("silent"),
    occupants: { find: () => placed },
    over: () => expect.fail("it has not settled"),
    ends: () => expect.fail("nothing ends its slot"),
  });
  messages.take({} as Slot, { kind: "fenced", attempt: 1 });
  expect(moved).toEqual(["its slot regarded the lease as over, before its service did"]);
  placed.cause = { kind: "uncaught", error: { name: "Error", message: "its own" } };
  messages.take({} as Slot, { kind: "fenced", attempt: 1 });
  expect(moved).toHaveLength(1);
});

test("Of what a slot tells of the tasks of a call only those are kept that were given to it, and of what is no call none", () => {
  const message = (...taskIds: string[]) => ({
    kind: "results" as const,
    attempt: 1,
    results: taskIds.map((taskId) => ({ taskId: taskId as TaskId, output: "1" })),
  });
  const told = (run: object): string[] => {
    const placed = { id: 1, host: {}, run: { log: createLog("silent"), ...run }, cause: undefined } as unknown as Placed;
    const messages = new AttemptMessages({
      log: createLog("silent"),
      occupants: { find: () => placed },
      over: () => expect.fail("it has not settled"),
      ends: () => expect.fail("nothing ends its slot"),
    });
    messages.take({} as Slot, message("a", "of-others", "b"));
    messages.take({} as Slot, message("c", "b"));
    return [...(placed.results?.keys() ?? [])];
  };
  expect(told({ isMember: (taskId: string) => ["a", "b", "c"].includes(taskId) })).toEqual(["a", "b", "c"]);
  expect(told({})).toEqual([]);
});

test("One that its slot says has failed, and not of what, has failed all the same", () => {
  const outcomes: unknown[] = [];
  const host = { onSettled: (_run: unknown, outcome: unknown) => outcomes.push(outcome) };
  const placed = { id: 1, host, run: { log: createLog("silent") }, cause: undefined } as unknown as Placed;
  const messages = new AttemptMessages({
    log: createLog("silent"),
    occupants: { find: () => placed },
    over: () => undefined,
    ends: () => expect.fail("nothing ends its slot"),
  });
  messages.take({} as Slot, FromSlotSchema.parse({ kind: "settled", attempt: 1, outcome: "failed" }) as never);
  expect(outcomes).toMatchObject([{ outcome: "failed", error: { message: expect.stringContaining("has not told") } }]);
});

test("Lines that its slot has dropped are in what it said, and not in the service's log alone", () => {
  const tail = new RunTail(32_768);
  const placed = { id: 1, host: { tailOf: () => tail }, run: { log: createLog("silent") } } as unknown as Placed;
  const messages = new AttemptMessages({
    log: createLog("silent"),
    occupants: { find: () => placed },
    over: () => expect.fail("it has not settled"),
    ends: () => expect.fail("nothing ends its slot"),
  });
  messages.take({} as Slot, { kind: "lines-dropped", attempt: 1, lines: 3 });
  expect(tail.after(0, 10)).toMatchObject([
    { seq: 4, level: "warn", message: expect.stringContaining("3 lines were dropped") },
  ]);
});
