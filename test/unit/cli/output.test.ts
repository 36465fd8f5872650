import { OBSERVER_STATUSES, readableBytes, type Stats, type TaskFiguresNow, type TaskTypeFigures } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { choosePaint, painted, stateColour, unpainted } from "../../../cli/src/output/colours.ts";
import { describeObserver, describeService, describeTask, retryText } from "../../../cli/src/output/description.ts";
import { exactDuration, shortDuration } from "../../../cli/src/output/durations.ts";
import { ListPrinter, type OutputFormat, printOne } from "../../../cli/src/output/list-printer.ts";
import { OBSERVER_LISTING } from "../../../cli/src/output/observer-listings.ts";
import { overviewText, usageBar } from "../../../cli/src/output/overview.ts";
import { plainText, shortened } from "../../../cli/src/output/plain-text.ts";
import { SERVICE_LISTING } from "../../../cli/src/output/service-listing.ts";
import { Table } from "../../../cli/src/output/table.ts";
import { SCHEDULE_LISTING, TIMER_LISTING } from "../../../cli/src/output/time-listings.ts";
import {
  MARKET_VIEW,
  NIGHTLY_VIEW,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/schedule-examples.ts";
import {
  TASK_CANCELLING,
  TASK_RUNNING,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-examples.ts";
import { FIGURES_NOW } from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-figure-examples.ts";
import { UNHEARD } from "../../../services/observer-manager/src/adapters/http/openapi/examples/timer-examples.ts";
import { NOW_MS, observerView, onService, runView, serviceView } from "./views.ts";

/** Of one that has had no run, and waits for nobody. */
const NOTHING = { runs: [], services: [] };

const look = { paint: unpainted, nowMs: NOW_MS };

describe("durations and sizes", () => {
  it.each([
    [-5, "0s"],
    [999, "0s"],
    [59_999, "59s"],
    [200_000, "3m20s"],
    [300_000, "5m"],
    [45 * 60_000 + 30_000, "45m"],
    [5 * 3_600_000 + 600_000, "5h10m"],
    [76 * 3_600_000, "3d4h"],
    [40 * 86_400_000, "40d"],
  ])("%i ms is %s", (durationMs, text) => expect(shortDuration(durationMs)).toBe(text));

  it("of settings lose nothing", () => {
    expect([0, 250, 1_000, 1_500, 300_000, 86_400_000].map(exactDuration)).toEqual([
      "0ms",
      "250ms",
      "1s",
      "1500ms",
      "5m",
      "1d",
    ]);
  });

  it("of memory are readable", () => {
    expect([0, 1_000, 1_536, 83_886_080, 5e12].map(readableBytes)).toEqual([
      "0 B",
      "1000 B",
      "1.5 KiB",
      "80 MiB",
      "4.5 TiB",
    ]);
  });
});

describe("texts of others", () => {
  it("cannot steer a terminal, nor break a line", () => {
    expect(plainText("a\u001b[31mb\nc\td\u009be\u202ef")).toBe("a\\u001b[31mb\\nc\\td\\u009be\\u202ef");
  });

  it("are cut by characters", () => {
    expect(shortened("short", 5)).toBe("short");
    expect(shortened("ab🙂cd", 4)).toBe("ab🙂…");
  });
});

describe("a table", () => {
  const columns = [
    { heading: "NAME", cell: ({ name }: { name: string; count: number }) => name },
    { heading: "COUNT", cell: ({ count }: { name: string; count: number }) => String(count), alignsRight: true },
    { heading: "ID", cell: () => "x", isWide: true },
  ];

  it("is aligned, and leaves what is wide to wide", () => {
    const rows = [
      { name: "a", count: 5 },
      { name: "longer", count: 1_000_000 },
    ];
    expect(new Table(columns).lines(rows, 0)).toEqual([
      "NAME       COUNT", //
      "a              5",
      "longer   1000000",
    ]);
    expect(new Table(columns, { wide: true }).lines(rows, 0)[0]).toBe("NAME       COUNT   ID");
  });

  it("is cut at the width of the terminal, in colours as without", () => {
    const rows = [
      { name: "a", count: 5 },
      { name: "longer", count: 1_000_000 },
    ];
    const cut = (maxWidth: number) => new Table(columns, { wide: true, maxWidth }).lines(rows, 0);
    expect(cut(20)).toEqual(
      ["NAME       COUNT   ID", "a              5   x", "longer   1000000   x"].map((line) => line.replace("   ID", "   …")),
    );
    expect(cut(12)).toEqual(["NAME       …", "a          …", "longer   10…"]);
    for (let width = 1; width < 30; width += 1)
      expect(Math.max(...cut(width).map((line) => Array.from(line).length)), `of ${width}`).toBeLessThanOrEqual(width);
    const painted18 = new Table(OBSERVER_LISTING.columns, { wide: true, paint: painted, maxWidth: 30 });
    for (const line of painted18.lines([observerView()], NOW_MS))
      expect(line.replaceAll(/\u001b\[\d+m/g, "").length).toBeLessThanOrEqual(30);
  });

  it("is aligned where signs take two columns of a terminal, or none, and is cut there as well", () => {
    const rows = ["夜間集計", "📈 prices", "cafe\u0301", "plain"].map((name) => ({ name, count: 1 }));
    expect(new Table(columns).lines(rows, 0)).toEqual([
      "NAME        COUNT", //
      "夜間集計        1",
      "📈 prices       1",
      "cafe\u0301            1",
      "plain           1",
    ]);
    expect(new Table(columns, { wide: true, maxWidth: 4 }).lines(rows, 0)).toEqual(["NAM…", "夜…", "📈 …", "caf…", "pla…"]);
  });

  it("goes on batch by batch under one heading, what is empty shown as -", () => {
    const table = new Table(columns);
    expect(table.lines([{ name: "first", count: 1 }], 0)).toHaveLength(2);
    expect(table.lines([{ name: "", count: 2 }], 0)).toEqual(["-           2"]);
  });

  it("has as many rows as are given at once: more than a call has arguments", () => {
    const rows = Array.from({ length: 200_000 }, (_, i) => ({ name: `n${i}`, count: i }));
    const lines = new Table(columns).lines(rows, 0);
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([200_001, "NAME       COUNT", "n199999   199999"]);
  });

  it("is aligned in colours as without", () => {
    const listed = (paint: typeof painted) =>
      new Table(OBSERVER_LISTING.columns, { paint }).lines([observerView(), observerView({ status: "Failed" })], NOW_MS);
    const coloured = listed(painted);
    expect(coloured[1]).toContain("\u001b[32mProcessing\u001b[0m");
    expect(coloured[2]).toContain("\u001b[31mFailed\u001b[0m");
    expect(coloured.map((line) => line.replaceAll(/\u001b\[\d+m/g, ""))).toEqual(listed(unpainted));
  });
});

describe("colours", () => {
  const choose = (changes: object) => choosePaint({ isTerminal: true, noColorOption: false, env: {}, ...changes });

  it("are for terminals, unless NO_COLOR, --no-color or a dumb terminal says otherwise", () => {
    expect(choose({})).toBe(painted);
    expect(choose({ env: { NO_COLOR: "" } })).toBe(painted);
    expect(choose({ isTerminal: false })).toBe(unpainted);
    expect(choose({ noColorOption: true })).toBe(unpainted);
    expect(choose({ env: { NO_COLOR: "1" } })).toBe(unpainted);
    expect(choose({ env: { TERM: "dumb" } })).toBe(unpainted);
  });

  it("are known for every status", () => {
    expect(OBSERVER_STATUSES.filter((status) => stateColour(status) === undefined)).toEqual([]);
  });
});

describe("a list", () => {
  const observers = ["a", "b", "c"].map((name) => observerView({ name, params: { text: "two\nlines: x\n", empty: "" } }));

  function printed(format: OutputFormat, batches: (typeof observers)[]): string {
    const printer = new ListPrinter(OBSERVER_LISTING, { format, ...look });
    return batches.map((batch) => printer.rows(batch)).join("") + printer.end();
  }

  it("is the same document however it came in pieces", () => {
    const [a, b, c] = observers as [(typeof observers)[0], (typeof observers)[0], (typeof observers)[0]];
    for (const format of ["json", "yaml", "name", "table"] as const) {
      const whole = printed(format, [observers]);
      expect(printed(format, [[a], [], [b, c]]), format).toBe(whole);
      expect(whole.endsWith("\n")).toBe(true);
    }
    expect(JSON.parse(printed("json", [[a], [b, c]]))).toEqual({ items: observers });
    expect(parse(printed("yaml", [[a], [b, c]]))).toEqual({ items: observers });
    const timeline = ["one\n\n", "two \n \n\n"].map((text) => ({ text }));
    const printer = new ListPrinter({ columns: [], nameOf: () => "" }, { format: "yaml", ...look });
    expect(parse(timeline.map((row) => printer.rows([row])).join(""))).toEqual({ items: timeline });
    expect(printed("name", [observers])).toBe("a\nb\nc\n");
  });

  it("of nothing is a document, too", () => {
    expect(JSON.parse(printed("json", [[]]))).toEqual({ items: [] });
    expect(parse(printed("yaml", []))).toEqual({ items: [] });
    expect(printed("table", [[]]) + printed("name", [])).toBe("");
  });

  it("of one that was named is the thing itself", () => {
    const one = observerView();
    expect(JSON.parse(printOne(OBSERVER_LISTING, one, { format: "json", ...look }))).toEqual(one);
    expect(parse(printOne(OBSERVER_LISTING, one, { format: "yaml", ...look }))).toEqual(one);
    expect(printOne(OBSERVER_LISTING, one, { format: "table", ...look })).toBe(
      [
        "NAME        TYPE     STATUS       SERVICE     ATTEMPTS   RUNS   AGE\n",
        "my-ticker   ticker   Processing   service-1          0      1   1h\n",
      ].join(""),
    );
  });

  it("says what an observer without a run waits for", () => {
    const observer = observerView({ status: "Created", service: null, currentRunId: null });
    const text = describeObserver({ observer, runs: [], services: [serviceView({ free: 0 })] }, look);
    expect(text).toContain("Waits for:      a free worker of pool default\n");
  });

  it("says beside the status that an observer is being paused", () => {
    const shown = printOne(OBSERVER_LISTING, observerView({ pending: "pause" }), { format: "table", ...look });
    expect(shown).toContain("  Processing,Pausing  ");
    expect(describeObserver({ observer: observerView({ pending: "pause" }), ...NOTHING }, look)).toContain(
      "Status:         Processing,Pausing\n",
    );
    expect(describeObserver({ observer: observerView({ status: "Paused" }), ...NOTHING }, look)).toContain(
      "Status:         Paused\n",
    );
  });

  it("say what a run has rejected, why, and what it runs by", () => {
    const rejectedUpdate = {
      specVersion: 3,
      reason: "a feed of 900 symbols is too much",
      at: "2026-11-20T17:30:00.000Z",
      keeps: { specVersion: 2, params: {} },
    };
    const observer = observerView({ specVersion: 3, observedSpecVersion: 2, rejectedUpdate });
    const text = describeObserver({ observer, ...NOTHING }, look);
    expect(text).toMatch(
      /Rejected: .*version 3, at .*: a feed of 900 symbols is too much; it keeps running with version 2 until its params are changed again, or it is restarted\n/,
    );
    expect(text).toContain("3, but its run has 2");
  });

  it("of schedules says what their hours are for, and what holds now", () => {
    expect(printOne(SCHEDULE_LISTING, MARKET_VIEW, { format: "table", ...look })).toContain("observers running, now paused");
    const paused = { ...MARKET_VIEW, status: "Paused" as const, wantedNow: null };
    expect(printOne(SCHEDULE_LISTING, paused, { format: "table", ...look })).toMatch(/observers running {3}/);
  });

  it("of schedules says an interval as exactly as it was given", () => {
    const each = { ...NIGHTLY_VIEW, cron: null, everyMs: 605_000 };
    expect(printOne(SCHEDULE_LISTING, each, { format: "table", ...look })).toMatch(/ every 605s {3}/);
  });

  it("of timers says in words why one is not heard", () => {
    expect(printOne(TIMER_LISTING, UNHEARD, { format: "table", ...look })).toContain("no queue is bound for its name");
  });

  it("says a word of a newer manager as it is", () => {
    const timer = { ...UNHEARD, lastProblem: "too-late" as "unknown" };
    expect(printOne(TIMER_LISTING, timer, { format: "table", ...look })).toMatch(/ too-late /);
    const observer = observerView({ pending: "move" as "pause" });
    expect(printOne(OBSERVER_LISTING, observer, { format: "table", ...look })).toContain("Processing,move ");
  });

  it("of services says how full each is", () => {
    expect(printOne(SERVICE_LISTING, serviceView(), { format: "table", ...look }).split("\n")).toEqual([
      "NAME        STATE   RUNNING   WORKERS   ROOM   TASK WORKERS   POOL      SEEN   AGE",
      "service-1   Alive         4        10      6              -   default   2s     2h",
      "",
    ]);
    const withTasks = serviceView({ tasks: { workers: 20, types: ["resize", "thumbnail"] } });
    expect(printOne(SERVICE_LISTING, withTasks, { format: "table", ...look })).toContain("  6             20   default");
    expect(printOne(SERVICE_LISTING, withTasks, { format: "wide", ...look })).toContain("resize,thumbnail");
    expect(describeService(onService(withTasks), look)).toMatch(/Tasks: +20 at once: resize, thumbnail/);
    expect(describeService(onService(withTasks), look)).toContain(
      "get audit --filter target=service-1 --filter targetKind=service",
    );
  });
});

describe("a description", () => {
  it.each([
    [1, "sent once\n"],
    [2, "sent twice\n"],
    [3, "sent 3 times\n"],
  ])("of a task that was sent %d times says it in words", (sends, text) =>
    expect(describeTask({ ...TASK_CANCELLING, sends, postpones: 0 }, look)).toContain(text),
  );

  it("of a task that was interrupted says when, where and why, as far as that is known", () => {
    const service = { id: TASK_CANCELLING.id, name: "worker-1" };
    const one = { at: "2026-01-01T23:59:50.000Z", service, takenBy: null, detail: null };
    const text = describeTask(
      {
        ...TASK_CANCELLING,
        interruptions: 3,
        interrupted: [
          { ...one, reason: "service-gone" },
          { ...one, reason: "restarted", detail: "its slot ended (exit code 3)" },
          { ...one, reason: "lease-over", service: null, takenBy: "anna" },
        ],
      },
      look,
    );
    expect(text).toContain(
      [
        "Interrupted:    2026-01-01T23:59:50.000Z (10s ago) on worker-1: service-gone",
        "Interrupted:    2026-01-01T23:59:50.000Z (10s ago) on worker-1: restarted: its slot ended (exit code 3)",
        "Interrupted:    2026-01-01T23:59:50.000Z (10s ago) taken by anna: lease-over\n",
      ].join("\n"),
    );
    expect(describeTask(TASK_CANCELLING, look)).not.toContain("Interrupted");
  });

  it("of a task has the stack below its error, and says what it created, what its params were and whose it is", () => {
    const text = describeTask(
      {
        ...TASK_CANCELLING,
        lastError: { name: "Error", message: "no route", stack: "at run (word-count.ts:12:22)" },
        output: { words: 3 },
        created: [{ id: TASK_CANCELLING.id, type: "resize", outcome: "created" }],
        edits: [{ at: "2026-01-01T23:59:50.000Z", by: "ana", before: { url: "data:," } }],
        flow: { id: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41", ref: "count", reason: "fetch failed" },
      },
      look,
    );
    expect(text).toContain(
      'Result:         {"words":3}\nLast error:     Error: no route\n    at run (word-count.ts:12:22)\nParams:',
    );
    // With many others it may be none of the ten that the audit trail names.
    expect(text).toMatch(/^Cancelled by: {3}anna \(unacked get audit --filter requestId=[\w-]+\)$/m);
    expect(text).toContain(`Has created:    resize ${TASK_CANCELLING.id}, created\n`);
    expect(text).toContain(`Who did what:   unacked get audit --filter target=${TASK_CANCELLING.id} (for admins)\n`);
    expect(text).toContain('Params changed: 2026-01-01T23:59:50.000Z (10s ago) by ana, before: {"url":"data:,"}\n');
    expect(text).toContain("Flow:           01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41, as count: fetch failed\n");
  });

  it("of an observer tells its trouble, its params and its runs", () => {
    const lastError = { name: "Error", message: "no\u001b[2J route", group: "no route", at: "2026-01-01T23:59:50.000Z" };
    const observer = observerView({ status: "Retrying", attempts: 2, lastError, nextAttemptAt: "2026-01-02T00:00:04.000Z" });
    const ended = runView({ runNumber: 1, state: "Ended", endedAt: "2026-01-01T23:10:00.000Z", endReason: "service-gone" });
    const text = describeObserver({ observer, runs: [runView({ runNumber: 2 }), ended], services: [] }, look);
    expect(text).toContain("Status:         Retrying\n");
    expect(text).toContain("Last error:     Error: no\\u001b[2J route (2026-01-01T23:59:50.000Z (10s ago))\n");
    expect(text).toContain("Next attempt:   2026-01-02T00:00:04.000Z\n");
    expect(text).toContain("Params:\n  everyMs: 1000\n");
    expect(text).toMatch(
      /Runs:\n {2}RUN {3}SERVICE .*\n {4}2 {3}service-1 .*\n {4}1 {3}service-1 {3}Ended .* 10m .*service-gone\n$/,
    );
  });

  it("of an observer shows the ten newest runs and where the others are", () => {
    const runs = Array.from({ length: 12 }, (_, index) => runView({ runNumber: 12 - index }));
    expect(describeObserver({ observer: observerView(), runs, services: [] }, look)).toMatch(
      /… and older ones: unacked get runs my-ticker\n$/,
    );
  });

  it("of a service tells what it runs", () => {
    const text = describeService(onService(serviceView(), { observers: [observerView()] }), look);
    expect(text).toContain("Workers:        4 running of 10, room for 6 more\n");
    expect(text).toMatch(/Observers:\n {2}NAME .*\n {2}my-ticker /);
    const full = serviceView({ free: 0, notConsuming: "its control group has 440 of 512 MiB in use" });
    expect(describeService(onService(full), look)).toContain(
      "Takes no work:  its control group has 440 of 512 MiB in use\n",
    );
    expect(printOne(SERVICE_LISTING, full, { format: "table", ...look })).toContain("Alive,Full");
    const ended = serviceView({ endedAt: "2026-01-01T23:00:00.000Z", endReason: "drained" });
    expect(describeService(onService(ended), look)).toMatch(
      /Ended: {10}2026-01-01T23:00:00\.000Z \(1h ago\): drained\nObservers: {6}none\n$/,
    );
  });

  it("of a service tells the newest tasks that run on it, how many more, and how they are listed", () => {
    const takes = serviceView({ tasks: { workers: 20, types: ["resize"] } });
    expect(describeService(onService(takes), look)).toMatch(/\nObservers: {6}none\nRunning tasks: {2}none\n$/);
    const items = [{ ...TASK_RUNNING, type: "resize" }];
    const one = { items, total: 1, isTotalExact: true, nextCursor: null };
    expect(describeService(onService(takes, { tasks: one }), look)).toMatch(
      /\nRunning tasks:\n {2}ID .*\n {2}\S{36} +resize +Running .*\n$/,
    );
    const many = (tasks: object) => describeService(onService(takes, { tasks: { ...one, ...tasks } }), look);
    const how = `unacked get tasks --filter service=${takes.id}\n`;
    expect(many({ total: 31 })).toContain(`\n  … and 30 more: ${how}`);
    expect(many({ total: 10_000, isTotalExact: false })).toContain(`\n  … and at least 9999 more: ${how}`);
    // Of one that has gone it is not known any more what it took.
    expect(describeService(onService(serviceView(), { tasks: one }), look)).toContain("\nRunning tasks:\n");
  });

  it("of a service tells its slots, why others ended, and its broken files", () => {
    const service = serviceView({
      slots: [
        {
          pid: 2031,
          purpose: "shared",
          runs: 4,
          memoryBytes: 41_943_040,
          lagMs: 312.4,
          startedAt: "2026-01-01T23:00:00.000Z",
        },
      ],
      slotDeaths: [
        {
          at: "2026-01-01T23:58:00.000Z",
          pid: 2030,
          purpose: "shared",
          end: "SIGSEGV",
          reason: "unnamed",
          why: "nobody can be named: 3 suspects",
          runs: 3,
          culprit: null,
          culpritTask: null,
        },
      ],
      slotDeathsLately: 7,
      brokenFiles: [
        {
          file: "/o/a.ts",
          problem: "no type",
          place: { file: "/o/a.ts", line: 3, column: 9 },
          excerpt: "> 3 | x\n    | ^",
        },
      ],
    });
    const text = describeService(onService(service), look);
    expect(text).toMatch(/\nSlots:\n {2} PID +FOR +RUNS +MEMORY +LAG +AGE\n {2}2031 +shared +4 +40 MiB +312ms +1h\n/);
    expect(text).toMatch(
      /Slots that ended \(7 unwanted in 10m\):\n.*\n {2}2m +2030 +SIGSEGV +3 +nobody can be named: 3 suspects\n/,
    );
    expect(text).toContain("Broken files:\n  /o/a.ts:3:9: no type\n    > 3 | x\n        | ^\n");
  });

  it("of an observer says who began its run again", () => {
    const interruption = "its slot ended (SIGKILL): spin did it: Error: x";
    const runs = [runView({ state: "Ended", endReason: "restarted", interruption })];
    expect(describeObserver({ observer: observerView(), runs, services: [] }, look)).toContain(
      `restarted: ${interruption}\n`,
    );
  });

  it("says a retry policy in words", () => {
    expect(retryText(observerView().retry)).toBe(
      "unlimited attempts, after 1s, then ×2 up to 5m; counted from 0 again after 10m without a failure",
    );
    expect(retryText({ maxAttempts: 3, delaysMs: [10, 1_000], resetAfterMs: 0 })).toBe(
      "at most 3 attempts, after 10ms, 1s; counted from 0 again after 0ms without a failure",
    );
  });
});

describe("the overview", () => {
  const byStatus = Object.fromEntries(OBSERVER_STATUSES.map((status) => [status, 0])) as Stats["observers"]["byStatus"];
  const stats: Stats = {
    observers: { total: 9, byStatus: { ...byStatus, Processing: 4, Failed: 1, Deleted: 4 }, byType: [] },
    workers: { total: 20, free: 15, byPool: [] },
    survivesLargestService: true,
    warnings: [],
    queues: [],
    stateQueueLag: 0,
    oldestWaiting: null,
  };
  const NO_FIGURES = { ...FIGURES_NOW, items: [], pools: [] };

  it("counts what is there, and puts the fullest service first", () => {
    const services = [serviceView(), serviceView({ name: "full", running: 10 })];
    const text = overviewText({ stats, services, figures: NO_FIGURES }, look);
    expect(text).toContain("Observers   5   Processing 4  Failed 1\n");
    expect(text).toContain("Workers     [#####---------------]   15 free of 20\n");
    expect(text.indexOf("full ")).toBeLessThan(text.indexOf("service-1"));
  });

  it("begins with what is wrong and what to do", () => {
    const warning = { code: "no-service", subject: "default", message: "No service lives", remedy: "Start one." } as const;
    const away = { ...stats, warnings: [warning], stateQueueLag: null, workers: { total: 0, free: 0, byPool: [] } };
    const text = overviewText({ stats: away, services: [], figures: NO_FIGURES }, look);
    expect(text.startsWith("! no-service (default): No service lives\n  Start one.\n\nObservers")).toBe(true);
    expect(text).toContain("Failover    there are no workers\n");
    expect(text).toContain("No service is alive: nothing can run.\n");
  });

  const typeOf = (type: string, more: object = {}) => ({ ...(FIGURES_NOW.items[0] as TaskTypeFigures), type, ...more });
  const withTypes = (items: TaskTypeFigures[], pools: TaskFiguresNow["pools"] = FIGURES_NOW.pools, paint = unpainted) =>
    overviewText({ stats, services: [serviceView()], figures: { ...FIGURES_NOW, items, pools } }, { ...look, paint });

  it("says nothing of tasks where there are no types of them", () => {
    const text = overviewText({ stats, services: [serviceView()], figures: NO_FIGURES }, look);
    expect(text).not.toMatch(/task/i);
    expect(text.trimEnd().split("\n").at(-1)).toContain("service-1 ");
  });

  it("counts the tasks that run and wait, and has each type, the one with the most load first", () => {
    const idle = typeOf("idle", { waiting: 0, running: 0, loadPercent: null, oldestDueAt: null });
    const text = withTypes([idle, typeOf("mail", { loadPercent: 20, waiting: 3 }), typeOf("resize")]);
    expect(text).toContain("\nTasks       14 running, 15 waiting\nTask load   default 64%\n");
    const [heading, ...rows] = text.slice(text.indexOf("TASK TYPE")).trimEnd().split("\n");
    expect(heading?.split(/ {2,}/)).toEqual([
      "TASK TYPE",
      "WAITING",
      "OLDEST",
      "RUNNING",
      "WORKERS",
      "LOAD",
      "DONE",
      "FAILED",
    ]);
    expect(rows.map((row) => row.split(/ +/))).toMatchObject([
      ["resize", "12", expect.any(String), "7", "20", "112%", "117", "1"],
      ["mail", "3", expect.any(String), "7", "20", "20%", "117", "1"],
      ["idle", "0", "-", "0", "20", "-", "117", "1"],
    ]);
    expect(text.split("\n").every((line) => line.length <= 80)).toBe(true);
  });

  it("says of what waits where it is not counted to the end, and of a pool that it has more than it can do", () => {
    const text = withTypes([typeOf("resize", { waiting: 10_000, isWaitingExact: false }), typeOf("mail", { waiting: 1 })]);
    expect(text).toContain("Tasks       14 running, 10001+ waiting\n");
    const pools = [
      { pool: "prices", workers: 4, loadPercent: 140.4 },
      { pool: "empty", workers: 0, loadPercent: null },
    ];
    expect(withTypes([typeOf("resize")], pools, painted)).toContain("Task load   prices \u001b[31m140%\u001b[0m\n");
    expect(withTypes([typeOf("resize")], [])).not.toContain("Task load");
  });

  it("has ten types, and says how many more there are and how they are seen", () => {
    const types = Array.from({ length: 12 }, (_, i) => typeOf(`t${i}`, { loadPercent: i }));
    const text = withTypes(types);
    expect(text.match(/^t\d+ /gm)).toHaveLength(10);
    expect(text).not.toMatch(/^t[01] /m);
    expect(text.endsWith("… and 2 more: unacked get task-figures\n")).toBe(true);
    expect(withTypes(types.slice(2))).not.toContain("…");
  });

  it("draws a bar that is never empty while one works, nor longer than full", () => {
    expect(usageBar(0, 10, unpainted)).toBe(`[${"-".repeat(20)}]`);
    expect(usageBar(1, 1_000, unpainted)).toBe(`[#${"-".repeat(19)}]`);
    expect(usageBar(12, 10, unpainted)).toBe(`[${"#".repeat(20)}]`);
    expect(usageBar(0, 0, unpainted)).toBe(`[${"-".repeat(20)}]`);
  });
});
