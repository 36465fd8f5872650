import type { LogEntry, NoLogsReason, ObserverLogs } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { jsonText, stateOf } from "../../../services/status-page/src/pages/observer/said.ts";
import {
  type LogTail,
  MOST_LINES,
  MOST_VALUES,
  NOTHING_SAID,
  withLogs,
} from "../../../services/status-page/src/store/log-tail.ts";

const AT = "2026-11-20T09:40:58.012Z";
const line = (seq: number): LogEntry => ({
  kind: "log",
  seq,
  at: AT,
  cut: false,
  level: "info",
  message: `line ${seq}`,
});
const value = (seq: number): LogEntry => ({ kind: "emit", seq, at: AT, cut: false, value: { seq } });

/** An answer in which a run says these, of all that it has said. */
const told = (id: string, service: string, entries: LogEntry[], more: Partial<ObserverLogs> = {}): ObserverLogs => ({
  observer: { id: "o", name: "one" },
  status: "Processing",
  run: { id, service: { id: `id of ${service}`, name: service }, isCurrent: true },
  entries,
  omitted: (entries.at(-1)?.seq ?? 0) - entries.length,
  reason: null,
  ...more,
});
const nothing = (reason: NoLogsReason): ObserverLogs =>
  told("a", "one", [], { status: "Created", run: null, reason, omitted: 0 });

const after = (...answers: ObserverLogs[]): LogTail => answers.reduce(withLogs, NOTHING_SAID);
const shown = ({ items }: LogTail): string[] =>
  items.map((item) =>
    item.kind === "line" ? item.line.message : item.kind === "run" ? `on ${item.run.service.name}` : `${item.count} gone`,
  );

describe("the tail of what an observer says", () => {
  it("is its lines, oldest first, and its values, newest first", () => {
    const tail = after(told("a", "one", [line(1), value(2), line(3), value(4)]));
    expect(shown(tail)).toEqual(["line 1", "line 3"]);
    expect(tail.values.map(({ entry }) => entry.value)).toEqual([{ seq: 4 }, { seq: 2 }]);
    expect(tail.state).toEqual({ phase: "telling" });
  });

  it("tells a move, and then counts from one again; the first run is no move", () => {
    const tail = after(told("a", "one", [line(1), line(2)]), nothing("moving"), told("b", "two", [line(1)]));
    expect(shown(tail)).toEqual(["line 1", "line 2", "on two", "line 1"]);
  });

  it("takes nothing twice, and is the same as before where nothing is new", () => {
    const before = after(told("a", "one", [line(1), line(2)]));
    expect(withLogs(before, told("a", "one", [line(1), line(2)]))).toBe(before);
    expect(shown(withLogs(before, told("a", "one", [line(1), line(2), line(3)])))).toEqual(["line 1", "line 2", "line 3"]);
  });

  it("says how much was said between two answers and is not kept any more; what was before the first nobody misses", () => {
    const first = told("a", "one", [line(7), line(8)]);
    expect(shown(after(first))).toEqual(["line 7", "line 8"]);
    expect(shown(after(first, told("a", "one", [line(12), line(13)])))).toEqual([
      "line 7",
      "line 8",
      "3 gone",
      "line 12",
      "line 13",
    ]);
    expect(shown(after(first, told("b", "two", [line(5)])))).toEqual(["line 7", "line 8", "on two", "4 gone", "line 5"]);
  });

  it("is bounded, and its keys are never used again", () => {
    const much = Array.from({ length: 3 * MOST_LINES }, (_, i) => (i % 2 === 0 ? line(i + 1) : value(i + 1)));
    const tail = after(told("a", "one", much));
    expect([tail.items.length, tail.values.length]).toEqual([MOST_LINES, MOST_VALUES]);
    expect(shown(tail).at(-1)).toBe(`line ${3 * MOST_LINES - 1}`);
    expect(tail.nextKey).toBe(3 * MOST_LINES + 1);
    expect(new Set(tail.items.map(({ key }) => key)).size).toBe(MOST_LINES);
  });

  it("does not change what was shown before: who has paused goes on seeing it", () => {
    const before = after(told("a", "one", [line(1)]));
    withLogs(before, told("a", "one", [line(1), line(2), value(3)]));
    expect(shown(before)).toEqual(["line 1"]);
    expect(before.values).toEqual([]);
  });
});

describe("how it stands with it", () => {
  const ended = told("a", "one", [line(1)]);
  it.each([
    ["asked", after(), "Asking its service"],
    ["telling", after(told("a", "one", [])), "Live from one"],
    ["not run", after(nothing("no-run")), "It has not run yet"],
    ["moving", after(nothing("moving")), "Its service has let go of it"],
    [
      "its run ended",
      after({ ...ended, run: ended.run && { ...ended.run, isCurrent: false } }),
      "Its service has let go of it",
    ],
    ["its service gone", after(nothing("service-gone")), "Its service is gone"],
    ["over", after({ ...ended, status: "Failed" }), "Failed: nothing more comes"],
  ])("%s", (_, tail, title) => expect(stateOf({ tail, failure: null }).title).toBe(title));

  it("a manager that is away counts more than what it said before, and so does a service that does not answer", () => {
    const tail = after(told("a", "one", []));
    const failure = { code: "unreachable", message: "m", remedy: "r" };
    expect(stateOf({ tail, failure })).toMatchObject({ tone: "wait", title: "No connection to the manager" });
    expect(stateOf({ tail, failure: { ...failure, code: "logs-unavailable" } })).toEqual({
      tone: "wait",
      title: "m",
      text: "r",
    });
  });
});

it("JSON that was cut stands as the text it is", () => {
  expect([jsonText('{"a":', true), jsonText("text", false), jsonText({ a: 1 }, false, 2)]).toEqual([
    '{"a":',
    '"text"',
    '{\n  "a": 1\n}',
  ]);
});
