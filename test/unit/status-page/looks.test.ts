import type { RunView } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { keyAction } from "../../../services/status-page/src/pages/observers/key-action.ts";
import { sayWhen } from "../../../services/status-page/src/pages/timers/timer-words.ts";
import { sayAgo, sayAway, sayBytes, sayDuration, sayMany } from "../../../services/status-page/src/parts/say.ts";
import { sayTimes } from "../../../services/status-page/src/parts/say-times.ts";
import { addressOfObserver, routeOf } from "../../../services/status-page/src/shell/route.ts";
import { nextLink } from "../../../services/status-page/src/store/link.ts";
import { noRunOf } from "../../../services/status-page/src/store/no-run.ts";
import {
  allOf,
  areAllChosen,
  extendedTo,
  NOTHING_CHOSEN,
  toggled,
} from "../../../services/status-page/src/store/selection.ts";
import { meaningOf, ranMs } from "../../../services/status-page/src/store/task-looks.ts";
import { marksOf, timeLineOf } from "../../../services/status-page/src/store/time-line.ts";

describe("addresses", () => {
  it.each([
    ["/", { page: "overview" }],
    ["/observers", { page: "observers" }],
    ["/observers/", { page: "observers" }],
    ["/observers/a%3Ab", { page: "observer", ref: "a:b" }],
    ["/observers/%", { page: "observer", ref: "%" }],
    ["/services/x", { page: "nowhere" }],
    ["/observers/x/y", { page: "nowhere" }],
    ["/elsewhere", { page: "nowhere" }],
  ])("%s leads to %o", (path, route) => expect(routeOf(path)).toEqual(route));

  it("of an observer lead back to it", () => {
    expect(routeOf(addressOfObserver("a/b:c"))).toEqual({ page: "observer", ref: "a/b:c" });
  });
});

describe("what is chosen", () => {
  it("is all that is shown only if each of these is, and not as many that were chosen under another filter", () => {
    const shown = (...ids: string[]) => ({ length: ids.length, has: (id: string) => ids.includes(id) });
    expect(areAllChosen(allOf(["a", "b"]), shown("a", "b"))).toBe(true);
    expect(areAllChosen(allOf(["a", "b"]), shown("b"))).toBe(true);
    expect(areAllChosen(allOf(["a", "b"]), shown("c"))).toBe(false);
    expect(areAllChosen(allOf(["a", "b"]), shown())).toBe(false);
  });
});

describe("what is said", () => {
  it("of an observer without a listed run is why it has none: it waits for a service only where it does", () => {
    const waits = "It waits until a service takes it.";
    expect(noRunOf({ status: "Created", runNumber: 0 })).toEqual({ title: "No run yet", text: waits });
    const others = (["Paused", "Scheduled", "Deleted"] as const).map((status) => noRunOf({ status, runNumber: 0 }).text);
    expect(new Set([waits, ...others]).size).toBe(4);
    expect(noRunOf({ status: "Paused", runNumber: 12 }).title).toContain("forgotten");
  });

  it("of a task's time is how long its last attempt ran, and nothing of one that was cancelled, which waited perhaps", () => {
    const at = (s: number): string => new Date(s * 1_000).toISOString();
    const task = { status: "Failed", startedAt: at(100), endedAt: at(130) } as const;
    expect(ranMs(task, 0)).toBe(30_000);
    expect(ranMs({ ...task, endedAt: at(99) }, 0)).toBe(0);
    expect(ranMs({ ...task, status: "Running", endedAt: null }, 160_000)).toBe(60_000);
    expect(ranMs({ ...task, status: "Scheduled", endedAt: null }, 160_000)).toBeNull();
    expect(ranMs({ ...task, startedAt: null }, 160_000)).toBeNull();
    expect(ranMs({ ...task, status: "Cancelled" }, 160_000)).toBeNull();
  });

  it("of a task that its flow has cancelled is why, and not that somebody did", () => {
    const flow = { id: "f", ref: "store", reason: "parse-b failed" };
    const task = { status: "Cancelled", completedBy: null, flow } as const;
    expect(meaningOf(task)).toBe("its flow has cancelled it: parse-b failed");
    expect(meaningOf({ ...task, flow: { ...flow, reason: null } })).toContain("somebody has cancelled it");
  });

  it.each([
    [12.4, "12 ms"],
    [1_000, "1 s"],
    [4_260, "4.2 s"],
    [59_999, "59 s"],
    [200_000, "3 min 20 s"],
    [7_200_000, "2 h"],
    [795_600_000, "9 d 5 h"],
  ])("of %d ms is %s", (ms, text) => expect(sayDuration(ms)).toBe(text));

  it("of bytes and numbers has its unit", () => {
    expect([sayBytes(412), sayBytes(88_300_000), sayBytes(2e9)]).toEqual(["412 B", "84 MiB", "1.9 GiB"]);
    expect([sayMany(1, "run"), sayMany(2, "run")]).toEqual(["1 run", "2 runs"]);
    expect([0, 1, 2, 3].map(sayTimes)).toEqual(["0 times", "once", "twice", "3 times"]);
  });

  it.each([
    [-3_600_000, "just now"],
    [-1, "just now"],
    [999, "just now"],
    [4_000, "4 s ago"],
  ])("of what happened %d ms ago is %s: never that it comes, whatever the clocks say", (ms, text) =>
    expect(sayAgo(ms)).toBe(text),
  );

  it.each([
    [4_000, "in 4 s"],
    [999, "now"],
    [-999, "now"],
    [-4_000, "4 s ago"],
  ])("of what is %d ms away is %s", (ms, text) => expect(sayAway(ms)).toBe(text));

  it.each([
    ["Waiting", 4_000, "in 4 s"],
    ["Waiting", -4_000, "due for 4 s"],
    ["Fired", 400, "just now"],
    ["Fired", -4_000, "4 s ago"],
    ["Cancelled", 4_000, "never"],
    ["Cancelled", -4_000, "never"],
  ] as const)("of a timer that is %s, its time %d ms away, is %s", (status, leftMs, text) =>
    expect(sayWhen({ status, at: new Date(1e12 + leftMs).toISOString() }, 1e12)).toBe(text),
  );
});

describe("the choice of rows", () => {
  const order = ["a", "b", "c", "d"];

  it("reaches from the last one chosen to another, either way, beside what was chosen before", () => {
    const chosen = extendedTo(toggled(toggled(NOTHING_CHOSEN, "a"), "d"), "c", order);
    expect([...chosen.ids].sort()).toEqual(["a", "c", "d"]);
    expect([...toggled(chosen, "a").ids].sort()).toEqual(["c", "d"]);
    expect(allOf(order).ids.size).toBe(4);
  });

  it("takes the one alone when the other end has left the list", () => {
    expect([...extendedTo({ ids: new Set(), anchor: "gone" }, "b", order).ids]).toEqual(["b"]);
  });
});

describe("keys in the list", () => {
  const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
  const at = { activeIndex: 5, count: 100, page: 20 };

  it("move, choose and open; with a modifier that is not theirs they stay the browser's", () => {
    expect(keyAction({ ...plain, key: "ArrowDown" }, at)).toEqual({ kind: "move", to: 6, extends: false });
    expect(keyAction({ ...plain, key: "PageUp", shiftKey: true }, at)).toEqual({ kind: "move", to: -15, extends: true });
    expect(keyAction({ ...plain, key: "End" }, at)).toMatchObject({ to: 99 });
    expect(keyAction({ ...plain, key: "a", metaKey: true }, at)).toEqual({ kind: "all" });
    expect(keyAction({ ...plain, key: "ArrowLeft", altKey: true }, at)).toBeNull();
    expect(keyAction({ ...plain, key: "x" }, at)).toBeNull();
  });
});

describe("the link to the manager", () => {
  it("remembers since when it is lost, however often it is tried in vain", () => {
    const lost = nextLink({ phase: "live" }, { kind: "broken", lastHeardMs: 5 });
    expect(nextLink(lost, { kind: "broken", lastHeardMs: 9 })).toBe(lost);
    expect(lost).toEqual({ phase: "lost", sinceMs: 5 });
    expect(nextLink(lost, { kind: "ready" })).toEqual({ phase: "live" });
  });

  it("is not said to be live when it rested: nothing has come since", () => {
    expect(nextLink({ phase: "live" }, { kind: "resting" })).toEqual({ phase: "connecting" });
  });
});

describe("the time line of runs", () => {
  const run = (startedAt: number, endedAt: number | null) =>
    ({ startedAt: new Date(startedAt).toISOString(), endedAt: endedAt && new Date(endedAt).toISOString() }) as RunView;

  it("reaches from the oldest start to now, or to the last end", () => {
    const { bars, startMs, endMs } = timeLineOf([run(500, null), run(100, 400)], 1_100);
    expect([startMs, endMs]).toEqual([100, 1_100]);
    expect(bars.map(({ from, to }) => [from, to])).toEqual([
      [0.4, 1],
      [0, 0.3],
    ]);
  });

  it("has room for a run of no length, and for a browser whose clock is behind", () => {
    const { from = -1, to = -1 } = timeLineOf([run(100, 100)], 50).bars[0] ?? {};
    expect([from >= 0, to >= from, to <= 1]).toEqual([true, true, true]); // no NaN of 0 / 0
    expect(timeLineOf([run(5_000, null)], 1_000).endMs).toBeGreaterThanOrEqual(5_000);
  });

  it("has what goes wrong within a run at its place, and nothing that is not on it", () => {
    const entry = (atMs: number, kind: "attempt-failed" | "silent" | "started", runId: string | null = "one") => ({
      at: new Date(atMs).toISOString(),
      kind,
      run: runId === null ? null : { id: runId, runNumber: 1 },
    });
    const entries = [
      entry(600, "silent"),
      entry(200, "attempt-failed"),
      entry(300, "started"),
      entry(50, "silent"),
      entry(700, "silent", null),
    ];
    expect(marksOf(entries, { startMs: 100, endMs: 1_100 })).toEqual(
      new Map([
        [
          "one",
          [
            { kind: "silent", at: 0.5 },
            { kind: "attempt-failed", at: 0.1 },
          ],
        ],
      ]),
    );
  });
});
