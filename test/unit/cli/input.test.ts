import type { ObserverView } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { toTaskTarget } from "../../../cli/src/commands/task-target.ts";
import { CliFailure } from "../../../cli/src/failure.ts";
import { parseAssignment, withAssignments, writePath } from "../../../cli/src/input/assignments.ts";
import { parseDocuments } from "../../../cli/src/input/document-text.ts";
import { parseDuration } from "../../../cli/src/input/duration.ts";
import {
  matchesFilter,
  parseFilters,
  parseLabelChange,
  parseLabels,
  parseTaskFilters,
} from "../../../cli/src/input/filters.ts";
import { toKind } from "../../../cli/src/input/kinds.ts";
import { differencesOf } from "../../../cli/src/input/observer-difference.ts";
import { atRestIn, toObservers } from "../../../cli/src/input/observer-documents.ts";
import { differencesOfSchedule } from "../../../cli/src/input/schedule-difference.ts";
import { isScheduleDocument, toSchedules } from "../../../cli/src/input/schedule-documents.ts";
import { yamlText } from "../../../cli/src/output/document-text.ts";
import {
  MARKET_VIEW,
  NIGHTLY_VIEW,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/schedule-examples.ts";
import { observerView } from "./views.ts";

/** What is said of a wrong input, with its details. */
function refusalOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    expect(error.exitKind).toBe("usage");
    return [error.message, ...error.details].join("\n");
  }
  throw new Error("nothing was refused");
}

describe("--set and --param", () => {
  it.each([
    ["params.everyMs=500", ["params", "everyMs"], 500],
    ['params.text="5"', ["params", "text"], "5"],
    ["params.on=true", ["params", "on"], true],
    ["params.off=null", ["params", "off"], null],
    ["params.empty=", ["params", "empty"], ""],
    ["params.url=http://x/?a=b", ["params", "url"], "http://x/?a=b"],
    ["params.list=[1, two]", ["params", "list"], [1, "two"]],
    ["params.map={a: 1}", ["params", "map"], { a: 1 }],
    ["retry.delaysMs[0]=10", ["retry", "delaysMs", 0], 10],
    ["params.grid[1][2]=x", ["params", "grid", 1, 2], "x"],
    ["params.a\\.b=1", ["params", "a.b"], 1],
    ["params.a\\=b=1", ["params", "a=b"], 1],
    ["labels.version=1", ["labels", "version"], "1"],
    ["name=x", ["name"], "x"],
    ["text=fix issue #12", ["text"], "fix issue #12"],
    ["channel=#general", ["channel"], "#general"],
    ["text=first line\n\nsecond", ["text"], "first line\n\nsecond"],
    ["text=&co more", ["text"], "&co more"],
    ["text=!now please", ["text"], "!now please"],
    ['text="quoted" # by hand', ["text"], "quoted"],
    ["none=~", ["none"], null],
    ["text=", ["text"], ""],
    ["none=NULL", ["none"], null],
    ["sep=|", ["sep"], "|"],
    ["sep=>", ["sep"], ">"],
    ["keep=|-", ["keep"], "|-"],
    ["text=|\n  first\n  second", ["text"], "first\nsecond\n"],
    ["sep=-", ["sep"], "-"],
    ["sep=:", ["sep"], ":"],
    ["sep= ? ", ["sep"], "?"],
    ["rule=---", ["rule"], "---"],
    ["rest=...", ["rest"], "..."],
    ["query=&page=2", ["query"], "&page=2"],
    ["query=&page 2", ["query"], "&page 2"],
    ["query=&a [1]", ["query"], "&a [1]"],
    ["query=&a: b", ["query"], "&a: b"],
    ["query= &a [1 ", ["query"], "&a [1"],
    ["prefix=user:", ["prefix"], "user:"],
    ["prefix=user: ", ["prefix"], "user:"],
    ["time=12: # noon", ["time"], "12: # noon"],
    ["question=? why", ["question"], "? why"],
    ["user=name: ~", ["user"], { name: null }],
    ['user=name: ""', ["user"], { name: "" }],
    ["user=name: ann", ["user"], { name: "ann" }],
    ["user={ name: }", ["user"], { name: null }],
    ["users=ann:\nben:", ["users"], { ann: null, ben: null }],
    ["tag=!!null", ["tag"], "!!null"],
    ["most=9007199254740991", ["most"], 9_007_199_254_740_991],
    ["mask=0x1F", ["mask"], 31],
    ["mode=0o755", ["mode"], 493],
    ["ratio=0.1", ["ratio"], 0.1],
    ["much=1e23", ["much"], 1e23],
    ["none=0e999999999", ["none"], 0],
  ])("reads %s", (text, path, value) => {
    expect(parseAssignment(text)).toEqual({ path, value });
  });

  it("puts the path of a param below params", () => {
    expect(parseAssignment("headers.accept=text", ["params"])).toEqual({
      path: ["params", "headers", "accept"],
      value: "text",
    });
  });

  it.each([
    "everyMs",
    "=5",
    "a..b=1",
    ".a=1",
    "a.=1",
    "a[x]=1",
    "a.__proto__.b=1",
    "a={",
    "a[0=1",
    "a=*b",
    "id=1234567890123456789",
    "ids=[1234567890123456789]",
    "id=9007199254740993.0",
    "id=9007199254740993e0",
    "id=9007199254740.993e3",
    "mask=0x20000000000001",
    "mask=0o400000000000000001",
    "most=.inf",
    "most=1e999",
  ])("refuses %s", (text) => {
    expect(refusalOf(() => parseAssignment(text))).toContain(text);
  });

  it("makes what is missing on the way and leaves the given value as it was", () => {
    const given = { params: { kept: 1 }, list: [1] };
    const set = ["params.deep.x=2", "list[1]=2", "list[0]=3", "new[0].y=4"].map((text) => parseAssignment(text));
    expect(withAssignments(given, set)).toEqual({ params: { kept: 1, deep: { x: 2 } }, list: [3, 2], new: [{ y: 4 }] });
    expect(given).toEqual({ params: { kept: 1 }, list: [1] });
  });

  it("never steps through a plain value, leaves a gap in a list, or reaches a prototype", () => {
    const set = (value: unknown, text: string) => refusalOf(() => withAssignments(value, [parseAssignment(text)]));
    expect(set({ params: 5 }, "params.x=1")).toContain("is no object");
    expect(set({ params: [] }, "params.x=1")).toContain("is no object");
    expect(set({ params: {} }, "params[0]=1")).toContain("is no list");
    expect(set({ list: [1] }, "list[2]=1")).toContain("would leave a gap");
    expect(withAssignments({}, [parseAssignment("params.constructor.x=1")])).toEqual({ params: { constructor: { x: 1 } } });
  });

  it("writes a path as it is read", () => {
    for (const text of ["params.everyMs", "retry.delaysMs[0]", "params.a\\.b", "x[1][2].y"]) {
      expect(writePath(parseAssignment(`${text}=1`).path)).toBe(text);
    }
  });
});

describe("filters", () => {
  it("combine what is repeated, take statuses in any case, and labels either way", () => {
    const filter = parseFilters(
      ["status=failed,Retrying", "status=CREATED", "type=ticker", "label=team=a"],
      ["tier=b,zone=c"],
    );
    expect(filter).toEqual({
      status: ["Failed", "Retrying", "Created"],
      type: "ticker",
      labels: { team: "a", tier: "b", zone: "c" },
    });
    expect(parseFilters()).toBeUndefined();
  });

  it.each(["status=Running", "state=Failed", "type", "type=", "=x", "label=team", "label==a"])(
    "refuse --filter %s",
    (text) => {
      expect(refusalOf(() => parseFilters([text]))).not.toBe("");
    },
  );

  it.each(["team", "team=", "team=a b", "", "team=a,,x=y", "__proto__=x"])("refuse -l %s", (text) => {
    expect(refusalOf(() => parseFilters([], [text]))).toContain("is not a label");
  });

  it("take a label's key as it is, dots and all, and an empty value where it is to be taken away", () => {
    expect(["app.io=web", "team.a=", "team.a=x.y"].map(parseLabelChange)).toEqual([
      ["app.io", "web"],
      ["team.a", ""],
      ["team.a", "x.y"],
    ]);
    for (const text of ["team", "=", "=x", "team=a b", "__proto__=x", "__proto__="])
      expect(refusalOf(() => parseLabelChange(text))).toContain("is not a label");
  });

  it.each([
    ["team", "it has no ="],
    ["=x", "its key is empty"],
    ["team=", "its value is empty"],
    ["team=a b", 'its value has " " at 2'],
    ["tëam=a", 'its key has "ë" at 2'],
    ["team=a=b", 'its value has "=" at 2'],
    [`team=${"x".repeat(129)}`, "its value has 129 characters"],
    ["__proto__=x", "that key is not allowed"],
  ])("say of -l %s where it is wrong, and what is allowed", (text, flaw) => {
    const refusal = expect.objectContaining({
      message: `"${text}" is not a label: ${flaw}`,
      remedy: expect.stringContaining("1 to 128 characters of A-Z a-z 0-9 . _ : -"),
    });
    expect(() => parseFilters([], [text])).toThrow(refusal);
    expect(() => parseLabels([text])).toThrow(refusal);
  });

  it("of tasks and the like add up statuses, and take no other key twice", () => {
    expect(parseTaskFilters(["status=Ready", "type=a", "status=Sent"])).toEqual({ status: "Ready,Sent", type: "a" });
    expect(refusalOf(() => parseTaskFilters(["type=a", "type=b"]))).toContain("--filter type is given twice");
    expect(parseTaskFilters(["service=worker-1"])).toEqual({ service: "worker-1" });
  });

  it.each(["service=worker-1", "q=0193"])(
    "of tasks that are to be changed have no %s: that would do it to others",
    (filter) => {
      expect(() => toTaskTarget([], { filter: [filter] })).toThrow(
        expect.objectContaining({
          message: `"${filter}" is not a filter of tasks that are to be changed`,
          remedy: "Write it as key=value; the keys are status, type, pool.",
        }),
      );
    },
  );

  it("refuse what contradicts itself", () => {
    expect(refusalOf(() => parseFilters(["type=a", "type=b"]))).toContain("given twice");
    expect(refusalOf(() => parseFilters([], ["team=a", "team=b"]))).toContain("at once");
  });

  it("decide for a change as the manager does for a list", () => {
    const observer = observerView({ name: "Tick-1", status: "Retrying", labels: { team: "a" } });
    const fits = (...filters: string[]) => matchesFilter(observer, parseFilters(filters) ?? {});
    expect(fits()).toBe(true);
    expect(fits("status=Failed,Retrying", "q=tICK", "label=team=a", "pool=default", "type=ticker")).toBe(true);
    for (const other of ["status=Failed", "q=tock", "label=team=b", "label=x=a", "pool=x", "type=x", "service=x"]) {
      expect(fits(other), other).toBe(false);
    }
    expect([observer.id, observer.id.toUpperCase(), observer.id.slice(0, 8)].map((id) => fits(`q=${id}`))).toEqual([
      true,
      true,
      false,
    ]);
    expect(fits(`service=${observer.service?.name}`)).toBe(true);
    expect(fits(`service=${observer.service?.id.toUpperCase()}`)).toBe(true);
  });

  it("give the labels of what is created", () => {
    expect(parseLabels(["team=a", "tier=1"])).toEqual({ team: "a", tier: "1" });
  });
});

describe("durations", () => {
  it.each([
    ["30s", 30_000],
    ["1m30s", 90_000],
    ["500ms", 500],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    ["1.5s", 1_500],
    ["1.0005s", 1_001],
    ["10", 10_000],
    ["0", 0],
  ])("%s", (text, durationMs) => expect(parseDuration(text)).toBe(durationMs));

  it.each(["", "s", "-1s", "5 s", "1w", "abc", "5sm"])("refuse %s", (text) => {
    expect(refusalOf(() => parseDuration(text))).toContain("is not a duration");
  });
});

describe("kinds", () => {
  it("have the names that kubectl's users try", () => {
    const words = ["observers", "observer", "OBS", "svc", "service", "run", "errors", "err", "type"];
    expect(words.map(toKind)).toEqual([
      "observers",
      "observers",
      "observers",
      "services",
      "services",
      "runs",
      "errors",
      "errors",
      "types",
    ]);
    expect(refusalOf(() => toKind("pods"))).toContain('"pods"');
  });
});

describe("documents", () => {
  const two = [
    { name: "a", type: "ticker" },
    { name: "b", type: "ticker", params: { everyMs: 5 } },
  ];

  it.each([
    ["YAML with ---", "name: a\ntype: ticker\n---\nname: b\ntype: ticker\nparams: { everyMs: 5 }\n---\n"],
    ["a list in YAML", "- {name: a, type: ticker}\n- {name: b, type: ticker, params: {everyMs: 5}}\n"],
    ["a list in JSON", JSON.stringify(two)],
    ["JSON with tabs", JSON.stringify(two, null, "\t")],
    ["items in JSON", JSON.stringify({ items: two })],
    ["items in YAML", "items:\n  - {name: a, type: ticker}\n  - {name: b, type: ticker, params: {everyMs: 5}}\n"],
  ])("are read from %s, each with its place", (_how, text) => {
    expect(parseDocuments(text, "file")).toEqual([
      { value: two[0], place: "file, document 1" },
      { value: two[1], place: "file, document 2" },
    ]);
  });

  it("are none in an empty file", () => {
    for (const text of ["", "---\n---\n", "# nothing\n", "[]"]) expect(parseDocuments(text, "file")).toEqual([]);
  });

  it("say where the syntax is wrong", () => {
    expect(refusalOf(() => parseDocuments("a: b: c\n", "file.yaml"))).toMatch(/^file\.yaml is not YAML: .*line 1/);
    expect(refusalOf(() => parseDocuments('{"a": 1', "file.json"))).toMatch(/^file\.json is not JSON: /);
  });

  it.each([
    ["f.yaml", "params: { id: 9007199254740993 }", "would be rounded to 9007199254740992"],
    ["f.yaml", "params: { 9007199254740993: a }", "would be rounded"],
    ["f.yaml", "params: { mask: 0x20000000000001 }", "would be rounded to 9007199254740992"],
    ["f.json", '{"params":{"id":9007199254740993.0}}', "would be rounded to 9007199254740992"],
    ["f.yaml", "params: { most: .inf }", ".inf is a number that JSON does not have"],
    ["f.yaml", "params: *nowhere", "nowhere"],
    ["f.json", '{"params":{"a\\"b":"1e999","id":-1146092083740815411}}', "-1146092083740815411"],
    ["f.json", '{"params":{"most":1e999}}', "1e999 is a number that JSON does not have"],
  ])("of %s with %s are refused, as something else would be sent", (source, text, why) => {
    const said = refusalOf(() => parseDocuments(text, source));
    expect(said).toMatch(/^f\.(yaml|json): /);
    expect(said).toContain(why);
  });

  it("keep a large number that comes out as it is written, as of a backup, and texts of digits", () => {
    const value = { id: "9007199254740993", most: 1e20, much: 1e23, more: 1e300, seen: 1146092083740815400 };
    expect(parseDocuments(JSON.stringify(value), "f.json")).toEqual([{ value, place: "f.json" }]);
    expect(parseDocuments(yamlText(value), "f.yaml")).toEqual([{ value, place: "f.yaml" }]);
  });

  it("are told with all their mistakes at once, each with its place", () => {
    const documents = parseDocuments("name: a b\ntype: ticker\n---\nname: b\ntype: ticker\nparms: {}\n---\n5", "file.yaml");
    const said = refusalOf(() => toObservers(documents, []));
    expect(said).toContain("3 mistakes");
    expect(said).toContain("file.yaml, document 1: name: ");
    expect(said).toContain('file.yaml, document 2: Unrecognized key: "parms"');
    expect(said).toContain("file.yaml, document 3: ");
  });

  it("say of a label's key what is wrong with it", () => {
    const documents = parseDocuments("name: a\ntype: x\nlabels: { te am: a }", "f.yaml");
    const told = { details: ["f.yaml: labels.te am: in the key: only A-Z a-z 0-9 . _ : - are allowed"] };
    expect(() => toObservers(documents, [])).toThrow(expect.objectContaining(told));
  });

  it("define each name once", () => {
    const documents = parseDocuments("name: a\ntype: x\n---\nname: a\ntype: x\n", "file.yaml");
    expect(refusalOf(() => toObservers(documents, []))).toBe(
      "file.yaml, document 2: a is already defined in file.yaml, document 1",
    );
  });

  it("may be what get printed: what the books added is left out", () => {
    const view = observerView({ labels: { team: "a" } });
    const [observer] = toObservers([{ value: view, place: "file" }], [parseAssignment("pool=other")]);
    const { name, type, params, labels, retry } = view;
    expect(observer).toEqual({ name, type, params, labels, retry, pool: "other", whenFull: "reject" });
  });
});

describe("observers of a backup that would run, and did not, or were not to any more", () => {
  const inBackup = (changes: Partial<ObserverView>) => [
    ...atRestIn([{ value: observerView({ name: "a", ...changes }), place: "file" }]),
  ];

  it.each<[string, Partial<ObserverView>]>([
    ["Paused", { status: "Paused" }],
    ["Failed", { status: "Failed" }],
    ["Completed", { status: "Completed" }],
    ["Deleted", { status: "Deleted" }],
    ["OnDeleting", { status: "OnDeleting" }],
    ["Processing,Pausing", { status: "Processing", pending: "pause" }],
    ["Redistributing,Pausing", { status: "Redistributing", pending: "pause" }],
  ])("are those that are %s", (how, changes) => expect(inBackup(changes)).toEqual([["a", how]]));

  it.each<Partial<ObserverView>>([
    { status: "Processing" },
    { status: "Scheduled" },
    { status: "Processing", pending: "update" },
  ])("are not those that are %j", (changes) => expect(inBackup(changes)).toEqual([]));

  it("run without their status", () => {
    const { status: _paused, ...value } = observerView({ name: "a", status: "Paused" });
    const documents = [{ value, place: "file" }];
    expect([...atRestIn(documents)]).toEqual([]);
    expect(toObservers(documents, [])).toMatchObject([{ name: "a", type: "ticker" }]);
  });
});

describe("differences", () => {
  const wanted = (changes: object) => {
    const { name, type, params, labels, pool } = observerView();
    const [observer] = toObservers([{ value: { name, type, params, labels, pool, ...changes }, place: "file" }], []);
    if (observer === undefined) throw new Error("no observer");
    return observer;
  };

  it("are none where only the order of keys differs, or a default is not said", () => {
    const observer = observerView({ params: { a: 1, b: { c: 2, d: [1] } } });
    expect(differencesOf(observer, wanted({ params: { b: { d: [1], c: 2 }, a: 1 } }))).toEqual([]);
  });

  it("name each place, what is and what is wanted", () => {
    const observer = observerView({ params: { a: 1, gone: 2, list: [1, 2] }, labels: { team: "a" } });
    const changes = { params: { a: "1", list: [1, 3, 4], new: null }, labels: {}, retry: { maxAttempts: 3 } };
    expect(differencesOf(observer, wanted(changes))).toEqual([
      { path: "params.a", is: 1, wanted: "1" },
      { path: "params.gone", is: 2, wanted: undefined },
      { path: "params.list[1]", is: 2, wanted: 3 },
      { path: "params.list[2]", is: undefined, wanted: 4 },
      { path: "params.new", is: undefined, wanted: null },
      { path: "labels.team", is: "a", wanted: undefined },
      { path: "retry.maxAttempts", is: "unlimited", wanted: 3 },
    ]);
  });
});

describe("schedules in files", () => {
  const read = (text: string, set: string[] = []) =>
    toSchedules(
      parseDocuments(text, "f.yaml"),
      set.map((each) => parseAssignment(each)),
    );

  it.each([NIGHTLY_VIEW, MARKET_VIEW, { ...NIGHTLY_VIEW, cron: null, everyMs: 5_000, timeZone: "UTC" }])(
    "may be what get printed: it is the same schedule, $id by $cron",
    (view) => {
      const [read, ...others] = toSchedules([{ value: view, place: "f.yaml" }], []);
      expect([read?.id, others]).toEqual([view.id, []]);
      expect(differencesOfSchedule(view, read?.body ?? expect.fail("it was not read"))).toEqual([]);
    },
  );

  it("are as what is there where they say its defaults, or write the same otherwise; else each place is named", () => {
    const view = { ...MARKET_VIEW, except: ["2026-11-26", "2026-12-25"] };
    const body = { description: view.description, hours: view.hours, timeZone: view.timeZone };
    const observers = { filter: view.observers.filter };
    expect(differencesOfSchedule(view, { ...body, observers, except: ["2026-12-25", "2026-11-26"] })).toEqual([]);
    expect(differencesOfSchedule(view, { ...body, observers: { ...observers, wanted: "paused" } })).toEqual([
      { path: "observers.wanted", is: "running", wanted: "paused" },
      { path: "except[0]", is: "2026-11-26", wanted: undefined },
      { path: "except[1]", is: "2026-12-25", wanted: undefined },
    ]);
    const cron = { description: NIGHTLY_VIEW.description, timeZone: NIGHTLY_VIEW.timeZone, task: NIGHTLY_VIEW.task };
    const spaced = { ...cron, cron: ` ${NIGHTLY_VIEW.cron.replaceAll(" ", "  ")}`, jitterMs: 60_000 };
    expect(differencesOfSchedule(NIGHTLY_VIEW, spaced)).toEqual([]);
  });

  it("have their id beside what PUT takes", () => {
    const text =
      "schedule: nightly\ncron: 0 2 * * *\ntask: { type: report }\n---\nschedule: often\neveryMs: 5000\ntask: { type: poll }\n";
    expect(parseDocuments(text, "f.yaml").map(({ value }) => isScheduleDocument(value))).toEqual([true, true]);
    expect(isScheduleDocument({ name: "a", type: "ticker" })).toBe(false);
    expect(read(text, ["overlap=queue"])).toEqual([
      { id: "nightly", body: { cron: "0 2 * * *", task: { type: "report" }, overlap: "queue" } },
      { id: "often", body: { everyMs: 5_000, task: { type: "poll" }, overlap: "queue" } },
    ]);
  });

  it("are refused with the places of all mistakes", () => {
    const told = refusalOf(() =>
      read("schedule: a b\ncron: 0 2 * * *\n---\nschedule: c\neveryMs: 5\ntask: { type: t, colour: red }\n"),
    );
    expect(told).toContain("schedule: only A-Z");
    expect(told).toContain("needs one of task and observers");
    expect(told).toContain("everyMs: ");
    expect(told).toContain("colour");
    const both = "schedule: a\ncron: 0 2 * * *\neveryMs: 5000\ntask: { type: t }";
    expect(refusalOf(() => read(both))).toContain(
      "only one of cron and everyMs may be given, and there are cron and everyMs",
    );
    expect(refusalOf(() => read("schedule: a\ntask: { type: t }"))).toContain("needs one of cron and everyMs");
    const twice = "schedule: a\neveryMs: 5000\ntask: { type: t }";
    expect(refusalOf(() => read(`${twice}\n---\n${twice}`))).toContain("a is defined in");
  });
});
