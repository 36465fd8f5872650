import { SlotDeathView, TaskEnded, TaskView } from "@unacked/contracts";
import { expect, test } from "vitest";
import { FromSlotSchema } from "../../../services/observer-service/src/keeper/slots/process/slot-messages.ts";

/** As `md5(text)::uuid` makes it: PostgreSQL takes it, RFC 9562 does not, and tasks that have it are in the books of some. */
const ID = "d41d8cd9-8f00-0204-0980-0998ecf8427e";
const OTHER = "01932f5d-3f44-4d85-bc31-8eafcd405111";
const at = Date.now();

test.each<[string, { safeParse(value: unknown): { success: boolean } }, object]>([
  [
    "its end",
    TaskEnded,
    { kind: "TaskEnded", taskId: ID, sendId: OTHER, runId: OTHER, at, startedAt: at, outcome: "completed" },
  ],
  [
    "its result, which a slot tells of a call for many",
    FromSlotSchema,
    { kind: "results", attempt: 1, results: [{ taskId: ID, output: "1" }] },
  ],
  ["its view", TaskView.pick({ id: true, parentId: true }), { id: ID, parentId: ID }],
  ["the end of a slot that it did", SlotDeathView.pick({ culpritTask: true }), { culpritTask: { id: ID, type: "block" } }],
])("A task with an id of any 128 bits is read in %s", (_, schema, told) => {
  expect(schema.safeParse(told)).toMatchObject({ success: true });
});
