import { describe, expect, test } from "vitest";
import {
  type FlowTaskRow,
  toFlowTaskView,
} from "../../../services/observer-manager/src/adapters/postgres/flows/flow-view.ts";
import { type TaskRow, toTaskView } from "../../../services/observer-manager/src/adapters/postgres/tasks/views/task-view.ts";
import { toLogEntry } from "../../../services/observer-manager/src/domain/logs/log-entry.ts";

const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** As the books keep it of a task that has completed. */
const row = (output: string) => ({ status: "Completed", due_at: new Date(0), created_at: new Date(0), error: null, output });

const SHOWN = [
  ["a task", (json: string) => toTaskView(row(json) as unknown as TaskRow).output],
  ["a task of a flow", (json: string) => toFlowTaskView(row(json) as unknown as FlowTaskRow).output],
  ["a line of a log", (json: string) => (toLogEntry({ seq: 1, at: 0, json, cut: false }) as { value: unknown }).value],
] as const;

describe.each(SHOWN)("what %s was told to have said, as JSON in a text,", (_, shown) => {
  test("is shown as the value that it is, however it is nested as far as handlers nest", () => {
    expect(shown('{"a":[1,{"b":"]"}]}')).toEqual({ a: [1, { b: "]" }] });
    expect(JSON.stringify(shown(nested(1_000)))).toBe(nested(1_000));
  });

  test("is shown as text where it is no JSON, or so deep that no answer with it could be written", () => {
    expect(shown('{"a":')).toBe('{"a":');
    expect(JSON.stringify({ items: [shown(nested(32_000))] })).toBe(JSON.stringify({ items: [nested(32_000)] }));
  });
});
