import type { LogEvent } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { jsonText, stateOf } from "../../../services/status-page/src/pages/observer/said.ts";
import {
  type LogTail,
  MOST_LINES,
  MOST_VALUES,
  NOTHING_SAID,
  withEvents,
} from "../../../services/status-page/src/store/log-tail.ts";

const AT = "2026-11-20T09:40:58.012Z";
const run = (id: string, service: string): LogEvent => ({
  name: "run",
  data: { id, service: { id: `id of ${service}`, name: service }, isCurrent: true },
});
const line = (seq: number): LogEvent => ({
  name: "entry",
  data: { kind: "log", seq, at: AT, cut: false, level: "info", message: `line ${seq}` },
});
const value = (seq: number): LogEvent => ({
  name: "entry",
  data: { kind: "emit", seq, at: AT, cut: false, value: { seq } },
});

const after = (...events: LogEvent[]): LogTail => withEvents(NOTHING_SAID, events);
const shown = ({ items }: LogTail): string[] =>
  items.map((item) =>
    item.kind === "line" ? item.line.message : item.kind === "run" ? `on ${item.run.service.name}` : `${item.count} gone`,
  );

describe("the tail of what an observer says", () => {
  it("is its lines, oldest first, and its values, newest first", () => {
    const tail = after(run("a", "one"), line(1), value(2), line(3), value(4));
    expect(shown(tail)).toEqual(["line 1", "line 3"]);
    expect(tail.values.map(({ entry }) => entry.value)).toEqual([{ seq: 4 }, { seq: 2 }]);
    expect(tail.state).toEqual({ phase: "telling" });
  });

  it("tells a move, and then counts anew; the first run is no move", () => {
    const tail = after(run("a", "one"), line(1), line(2), run("b", "two"), line(1));
    expect(shown(tail)).toEqual(["line 1", "line 2", "on two", "line 1"]);
  });

  it("takes nothing twice when a stream begins anew", () => {
    const tail = withEvents(after(run("a", "one"), line(1), line(2)), [run("a", "one"), line(1), line(2), line(3)]);
    expect(shown(tail)).toEqual(["line 1", "line 2", "line 3"]);
  });

  it("says how much is not kept any more", () => {
    expect(shown(after(run("a", "one"), line(1), { name: "omitted", data: { count: 7 } }, line(9)))).toEqual([
      "line 1",
      "7 gone",
      "line 9",
    ]);
  });

  it("is bounded, and its keys are never used again", () => {
    const much = Array.from({ length: 3 * MOST_LINES }, (_, i) => (i % 2 === 0 ? line(i + 1) : value(i + 1)));
    const tail = after(run("a", "one"), ...much);
    expect([tail.items.length, tail.values.length]).toEqual([MOST_LINES, MOST_VALUES]);
    expect(shown(tail).at(-1)).toBe(`line ${3 * MOST_LINES - 1}`);
    expect(tail.nextKey).toBe(3 * MOST_LINES + 1);
    expect(new Set(tail.items.map(({ key }) => key)).size).toBe(MOST_LINES);
  });

  it("does not change what was shown before: who has paused goes on seeing it", () => {
    const before = after(run("a", "one"), line(1));
    withEvents(before, [line(2), value(3)]);
    expect(shown(before)).toEqual(["line 1"]);
    expect(before.values).toEqual([]);
  });
});

describe("how it stands with it", () => {
  const waiting = (reason: Extract<LogEvent, { name: "waiting" }>["data"]["reason"]) =>
    after({ name: "waiting", data: { status: "Created", reason } });

  it.each([
    ["asked", after(), "Asking its service"],
    ["telling", after(run("a", "one")), "Live from one"],
    ["not run", waiting("no-run"), "It has not run yet"],
    ["moving", waiting("moving"), "Its service has let go of it"],
    ["its service gone", waiting("service-gone"), "Its service is gone"],
    ["its service silent", waiting("no-answer"), "Its service does not answer just now"],
    ["over", after({ name: "end", data: { status: "Failed" } }), "Failed: nothing more comes"],
  ])("%s", (_, tail, title) => expect(stateOf({ tail, broken: null }).title).toBe(title));

  it("a manager that is away counts more than what it said before", () => {
    expect(stateOf({ tail: after(run("a", "one")), broken: { failure: null } })).toMatchObject({
      tone: "wait",
      title: "No connection to the manager",
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
