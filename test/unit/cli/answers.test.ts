import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ObserverStatus, PROBLEMS, type ProblemCode, type ProblemDetails } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemFailure } from "../../../cli/src/client/call-failure.ts";
import { EXIT_CODES } from "../../../cli/src/failure.ts";
import { run } from "../../../cli/src/program.ts";
import { failureText } from "../../../cli/src/report.ts";
import { ERROR_ENTRY } from "../../../services/observer-manager/src/adapters/http/openapi/examples/error-examples.ts";
import {
  FLOW_CREATED,
  FLOW_ID,
  FLOW_RUNNING,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/flow-examples.ts";
import { problemExample } from "../../../services/observer-manager/src/adapters/http/openapi/examples/problem-examples.ts";
import {
  NEXT_TIMES,
  NIGHTLY_VIEW,
  OCCURRENCE_PAGE,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/schedule-examples.ts";
import {
  COMPLETED,
  CREATED,
  READY,
  TASK_ID,
  TASK_RUNNING,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-examples.ts";
import { TASK_FAILURES } from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-failure-examples.ts";
import { QUIET_IO } from "./quiet-io.ts";
import { observerView, runView, serviceView } from "./views.ts";

/** A manager that answers each call by its method and path; of others it knows nothing. */
interface Answer {
  status?: number;
  body: object;
}
/** A list is answered one after the other, the last one from then on. "dies": the connection breaks off. */
type Answers = Record<string, Answer | (Answer | "dies")[]>;

let answers: Answers = {};
let asked: string[] = [];
/** The body, or all of them. */
let sent = "";
let server: Server;
const folder = mkdtempSync(join(tmpdir(), "unacked-cli-"));
beforeAll(async () => {
  server = createServer((request, response) => {
    const [path] = (request.url ?? "").split("?");
    if (path === "/api/v1/events") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return;
    }
    asked.push(`${request.method} ${request.url}`);
    request.setEncoding("utf8").on("data", (text: string) => (sent += text));
    const known = answers[`${request.method} ${path?.replace("/api/v1/", "")}`] ?? { status: 500, body: {} };
    const answer = Array.isArray(known) ? (known.length > 1 ? known.shift() : known[0]) : known;
    if (answer === "dies" || answer === undefined) return request.socket.destroy();
    const { status = 200, body } = answer;
    const type = status >= 400 ? "application/problem+json" : "application/json";
    response.writeHead(status, { "content-type": type }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.closeAllConnections());
afterAll(() => server.close());
afterAll(() => rmSync(folder, { recursive: true }));

/** One command line in this process, words by spaces. Each look at the clock is a second later. */
async function unacked(line: string, known: Answers): Promise<{ code: number; out: string; err: string }> {
  answers = known;
  asked = [];
  sent = "";
  const told = { out: "", err: "" };
  let nowMs = 0;
  const code = await run(line.split(" "), {
    ...QUIET_IO,
    out: (text) => void (told.out += text),
    err: (text) => void (told.err += text),
    env: { XDG_CONFIG_HOME: folder, UNACKED_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    nowMs: () => (nowMs += 1_000),
  });
  return { code, ...told };
}

describe("what was waited for in vain is no failure of it: exit code 4", () => {
  it("a task", async () => {
    const known = { "POST tasks": { status: 201, body: CREATED }, [`GET tasks/${TASK_ID}`]: { body: READY } };
    const { code, err } = await unacked("run resize --wait --timeout 2s", known);
    expect(err).toContain(`task ${TASK_ID} is still Ready, and waits for: turn. It goes on`);
    expect(code).toBe(EXIT_CODES.timedOut);
  });

  it("a flow", async () => {
    const known = { "POST flows": { status: 201, body: FLOW_CREATED }, [`GET flows/${FLOW_ID}`]: { body: FLOW_RUNNING } };
    const { code, err } = await unacked("flow create fetch store --wait --timeout 2s", known);
    expect(err).toContain(`flow ${FLOW_ID} still runs. It goes on`);
    expect(code).toBe(EXIT_CODES.timedOut);
  });

  it("an observer, which is called by its name", async () => {
    const results = [{ ref: "w1", status: 202, observer: observerView({ name: "w1" }) }];
    const { code, err } = await unacked("pause w1 --wait --timeout 1ms", {
      "POST observers/pause": { body: { results, accepted: 1, refused: 0 } },
    });
    expect(err).toBe("error: Not Paused within 1 ms: w1 is Processing.\n");
    expect(code).toBe(EXIT_CODES.timedOut);
  });
});

describe("a manager that restarts ends no wait: who tries again what goes on would have it twice", () => {
  it("a task's", async () => {
    const done = { ...READY, status: "Completed", output: { ok: 1 } };
    const { code, out, err } = await unacked("run resize --wait", {
      "POST tasks": { status: 201, body: CREATED },
      [`GET tasks/${TASK_ID}`]: ["dies", { status: 503, body: problemExample("not-ready") }, "dies", { body: done }],
    });
    expect(err).toMatch(new RegExp(`^task ${TASK_ID} is Ready\\nThe connection was lost \\(.*\\); trying again\\.\\n$`));
    expect({ code, out }).toEqual({ code: 0, out: '{\n  "ok": 1\n}\n' });
  });

  it("a flow's", async () => {
    const { code, out } = await unacked("flow create fetch store --wait", {
      "POST flows": { status: 201, body: FLOW_CREATED },
      [`GET flows/${FLOW_ID}`]: ["dies", { body: { ...FLOW_RUNNING, status: "Completed" } }],
    });
    expect(out).toContain(`flow ${FLOW_ID} "nightly import" is Completed`);
    expect(code).toBe(0);
  });
});

it("a flow's stages are all of the pool that is asked for", async () => {
  const { code } = await unacked("flow create fetch store --pool gpu", {
    "POST flows": { status: 201, body: FLOW_CREATED },
  });
  expect(code).toBe(0);
  expect(JSON.parse(sent).stages).toEqual([
    { type: "fetch", pool: "gpu" },
    { type: "store", pool: "gpu" },
  ]);
});

it("an answer that is waited for comes before it is given up", async () => {
  const known = { "POST tasks": { status: 201, body: CREATED }, [`GET tasks/${TASK_ID}`]: { body: READY } };
  await unacked("--request-timeout 2s run resize --wait --timeout 1900ms", known);
  expect(asked[1]).toBe(`GET /api/v1/tasks/${TASK_ID}?wait=1s`);
});

it.each([
  ["run resize", "POST tasks"],
  ["flow create fetch store", "POST flows"],
  ["work begin pause --all", "POST work"],
])("%s that nobody has answered can be repeated, so that there is one of it", async (line, call) => {
  const first = await unacked(line, { [call]: ["dies"] });
  expect(first.code).toBe(EXIT_CODES.unreachable);
  const [, id] = /Repeat it with --id ([0-9a-f-]{36})\. Then it exists only once/.exec(first.err) ?? [];
  const again = await unacked(`${line} --id ${id}`, { [call]: ["dies"] });
  expect(again.err).toContain(`--id ${id}`);
});

describe("of tasks, one that nothing came of is told by the exit code", () => {
  const other = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f42";
  it.each([
    ["cancel", "cancel", TASK_ID, 0, 0],
    ["cancel", "cancel", `${TASK_ID} ${other}`, 1, 1],
    ["rerun", "retry", TASK_ID, 1, 0],
    ["rerun", "retry", "--filter type=resize", 3, 2],
  ])("%s: (%s of) %s", async (command, call, which, matched, accepted) => {
    const body = { matched, accepted, more: false };
    const { code, err } = await unacked(`${command} ${which}`, { [`POST tasks/${call}`]: { body } });
    expect(code).toBe(EXIT_CODES.failed);
    expect(err).toContain("1 of ");
  });

  it.each([
    ["an id that was said twice", `cancel ${TASK_ID} ${TASK_ID}`, 1],
    ["a dry run", `cancel ${TASK_ID} --dry-run`, 0],
    ["a filter that none matches", "cancel --filter type=resize", 0],
  ])("but not %s", async (_what, line, count) => {
    const body = { matched: count, accepted: count, more: false };
    const { code } = await unacked(line, { "POST tasks/cancel": { body } });
    expect(code).toBe(0);
  });
});

describe("of more tasks than one call does", () => {
  const countOf = (count: number, more: boolean, accepted = count) => ({ body: { matched: count, accepted, more } });

  it("cancel does all that match, call by call, and says meanwhile how many", async () => {
    const known = { "POST tasks/cancel": [countOf(10_000, true), countOf(10_000, true), countOf(5_000, false)] };
    expect(await unacked("cancel --filter type=resize", known)).toEqual({
      code: EXIT_CODES.ok,
      out: "25000 of 25000 tasks: cancelled, or told to end\n",
      err: "10000 tasks: cancelled, or told to end; more match\n20000 tasks: cancelled, or told to end; more match\n",
    });
  });

  it("cancel ends where a call comes to nothing, and fails", async () => {
    const known = { "POST tasks/cancel": [countOf(10_000, true), countOf(10_000, true, 0)] };
    const { code, err } = await unacked("cancel --all", known);
    expect(asked).toHaveLength(2);
    expect(code).toBe(EXIT_CODES.failed);
    expect(err).toContain("10000 of 20000 were left as they are: not known, or it cannot be done to them");
  });

  it("rerun does as many as one call does, as they may be Failed again by the next, and fails", async () => {
    const known = { "POST tasks/retry": countOf(10_000, true) };
    const { code, out, err } = await unacked("rerun --all", known);
    expect([asked.length, code, out]).toEqual([1, EXIT_CODES.failed, "10000 of 10000 tasks: run again; more match\n"]);
    expect(err).toContain("error: More tasks match than one call does. Repeat it");
  });

  it.each([
    ["rerun --all", true],
    ["rerun --filter type=resize --dry-run", true],
    ["rerun --filter status=Cancelled", false],
    [`rerun ${TASK_ID}`, false],
    ["cancel --all", false],
  ])("of nothing %s says how those that are Cancelled are run again: %s", async (line, isTold) => {
    const none = { body: { matched: 0, accepted: 0, more: false } };
    const { err } = await unacked(line, { "POST tasks/retry": none, "POST tasks/cancel": none });
    expect(err.includes("Without a status only those that are Failed are run again: --filter status=Cancelled")).toBe(
      isTold,
    );
  });

  it("the help of rerun says which are meant where no status is given", async () => {
    const { out } = await unacked("rerun --help", {});
    expect(out.replaceAll(/\s+/g, " ")).toContain("--filter and --all mean those that are Failed, unless a status is given");
    expect(out).toContain("every task that is Failed");
  });

  it("rerun runs those again that failed alike, as their type and group are listed", async () => {
    const line = "rerun --filter type=resize --filter errorGroup=Error:<n>";
    const known = { "POST task-failures/retry": countOf(3, false) };
    expect(await unacked(line, known)).toEqual({ code: 0, out: "3 of 3 tasks: run again\n", err: "" });
    expect(JSON.parse(sent)).toEqual({ type: "resize", group: "Error:<n>", dryRun: false });
    const { err } = await unacked(`${line} --dry-run`, { "POST task-failures/retry": countOf(0, false) });
    expect(JSON.parse(sent)).toMatchObject({ dryRun: true });
    expect(err).toContain("None that is Failed with this type and error may run again: see unacked get task-failures.");
  });

  it.each([
    ["rerun --filter errorGroup=x", "--filter errorGroup needs a type"],
    ["rerun --filter type=a --filter pool=b --filter errorGroup=x", "--filter errorGroup and pool do not go together"],
    ["rerun --filter type=a --filter errorGroup=x --all", "exactly one of them"],
    ["cancel --filter type=a --filter errorGroup=x", '"errorGroup=x" is not a filter of tasks'],
  ])("%s is refused", async (line, why) => {
    const { code, err } = await unacked(line, {});
    expect([code, asked]).toEqual([EXIT_CODES.usage, []]);
    expect(err).toContain(why);
  });

  it.each(["cancel", "rerun"])("a dry run of %s says so", async (command) => {
    const known = { "POST tasks/cancel": countOf(10_000, true), "POST tasks/retry": countOf(10_000, true) };
    const { code, out } = await unacked(`${command} --all --dry-run`, known);
    expect([asked.length, code, out]).toEqual([1, EXIT_CODES.ok, expect.stringMatching(/; more match\n$/)]);
  });
});

it.each([
  [true, ""],
  [false, "More tasks are Failed: these are the newest 10000. Older ones are counted nowhere here.\n"],
])("get task-failures says if there are more than were counted: %s", async (isComplete, told) => {
  const at = "2026-01-01T00:00:00.000Z";
  const example = { id: TASK_ID, lastError: { name: "Error", message: "x" } };
  const items = [{ type: "resize", group: "Error: x", count: 10_000, firstEndedAt: at, lastEndedAt: at, example }];
  const { code, out, err } = await unacked("get task-failures -o name", {
    "GET task-failures": { body: { items, total: 1, isComplete } },
  });
  expect([code, out, err]).toEqual([0, `${TASK_ID}\n`, told]);
});

describe("what is told of many before a later call fails", () => {
  const failure = /500 of 501 are told above; of the others nothing is known\.\n$/;
  const some = observerView({ name: "w" });
  const answer = (status: number) => ({
    body: { results: Array.from({ length: 500 }, () => ({ status, observer: some })) },
  });

  it("is a list that can be read, and the failure says so: create", async () => {
    const file = join(folder, "many.json");
    writeFileSync(file, JSON.stringify(Array.from({ length: 501 }, (_, i) => ({ name: `w${i}`, type: "ticker" }))));
    const known = { "POST observers/batch": [answer(201), "dies" as const] };
    const { code, out, err } = await unacked(`create -f ${file} -o json`, known);
    expect((JSON.parse(out) as { items: object[] }).items).toHaveLength(500);
    expect([code, err]).toEqual([EXIT_CODES.unreachable, expect.stringMatching(failure)]);
  });

  it.each(["stop", "restart", "pause", "resume"])(
    "is a list that can be read, and the failure says so: %s",
    async (command) => {
      const { results } = answer(202).body;
      const body = { results: results.map((each, i) => ({ ...each, ref: `w${i}` })), accepted: 500, refused: 0 };
      const names = Array.from({ length: 501 }, (_, i) => `w${i}`).join(" ");
      const known = { [`POST observers/${command}`]: [{ body }, "dies" as const] };
      const { code, out, err } = await unacked(`${command} ${names} -o json`, known);
      expect((JSON.parse(out) as { items: object[] }).items).toHaveLength(500);
      expect([code, err]).toEqual([EXIT_CODES.unreachable, expect.stringMatching(failure)]);
    },
  );

  it("is nothing where the first call fails", async () => {
    const { code, out } = await unacked("stop w1 w2 -o json", { "POST observers/stop": ["dies"] });
    expect({ code, out }).toEqual({ code: EXIT_CODES.unreachable, out: "" });
  });
});

it("of a selection the manager only counts, and what to do about each refusal is told all the same", async () => {
  const refused = { "not-activated": 2, scheduled: 1, "of-a-newer-manager": 1 };
  const known = { "POST observers/stop": { body: { matched: 4, accepted: 0, refused } } };
  const { code, err } = await unacked("stop --filter type=kraken", known);
  expect(code).toBe(EXIT_CODES.failed);
  expect(err).toBe(
    `error: 4 of 4 were refused: 2 not-activated, 1 scheduled, 1 of-a-newer-manager.
  not-activated: Wait until it is Processing, or stop it with --force.
  scheduled: unacked describe says when. Stop it and create it again to have it start now.
`,
  );
});

it("what a selection did is a list as JSON and YAML, also where one matches; of one that is named it is that one", async () => {
  const observer = observerView({ name: "w1" });
  const results = [{ ref: "w1", status: 202, observer }];
  const known = {
    "GET observers": { body: { items: [observer], nextCursor: null, total: 1 } },
    "POST observers/stop": { body: { results, accepted: 1, refused: 0 } },
  };
  const read = async (line: string) => JSON.parse((await unacked(line, known)).out) as object;
  expect(await read("stop -l app=x -o json")).toMatchObject({ items: [{ name: "w1" }] });
  expect(await read("stop --all -o json")).toMatchObject({ items: [{ name: "w1" }] });
  expect(await read("stop w1 -o json")).toMatchObject({ name: "w1" });
  expect((await unacked("stop -l app=x -o yaml", known)).out).toMatch(/^items:\n/);
});

it("an argument that is empty is named, and asks nothing of the manager", async () => {
  const { code, err } = await unacked("get tasks ", {});
  expect(err).toBe("error: get: argument 2 is empty. Is a variable of the shell not set? Nothing was sent.\n");
  expect([code, asked]).toEqual([EXIT_CODES.usage, []]);
});

it("a change that is refused names the observer as it was typed, and not by its id", async () => {
  const observer = observerView({ name: "w1" });
  const { err } = await unacked("change w1 --param every=4000", {
    "GET observers/w1": { body: observer },
    [`PATCH observers/${observer.id}`]: { status: 422, body: problemExample("invalid-body") },
  });
  expect(err).toContain("error: observer w1: The body is wrong.\n  /params/everyMs: must be >= 100\n");
});

it("change sets and takes away labels whose keys have dots", async () => {
  const observer = observerView({ name: "w1", labels: { "team.a": "x" } });
  const { code, out } = await unacked("change w1 --label team.a= --label app.io=web", {
    "GET observers/w1": { body: observer },
    [`PATCH observers/${observer.id}`]: { body: { ...observer, outcome: "changed", changed: [] } },
  });
  const lines = ['  labels.team\\.a: "x" -> nothing', '  labels.app\\.io: nothing -> "web"'];
  expect({ code, out }).toEqual({ code: 0, out: `observer w1 changed (${observer.status})\n${lines.join("\n")}\n` });
});

it("apply has a schedule Paused again also over a manager that dies between the two calls, and says where one is not", async () => {
  const { id } = NIGHTLY_VIEW;
  const file = join(folder, "held.json");
  writeFileSync(file, JSON.stringify({ items: [{ ...NIGHTLY_VIEW, status: "Paused" }] }));
  const created = await unacked(`apply -f ${file}`, {
    [`PUT schedules/${id}`]: { status: 201, body: { ...NIGHTLY_VIEW, outcome: "created" } },
    [`POST schedules/${id}/pause`]: ["dies", { body: { ...NIGHTLY_VIEW, status: "Paused" } }],
  });
  expect(created).toMatchObject({ code: 0, out: `schedule ${id} created, and is Paused\n` });
  const there = { [`PUT schedules/${id}`]: { body: { ...NIGHTLY_VIEW, outcome: "exists" } } };
  expect((await unacked(`apply -f ${file}`, there)).out).toContain("it is not Paused, as its file says");
});

it("apply says of a schedule whose end has passed that it is over", async () => {
  const file = join(folder, "past.json");
  const cron = { cron: "0 12 * * *", endAt: "2020-01-01T00:00:00Z", task: { type: "report" } };
  writeFileSync(file, JSON.stringify({ schedule: "past", ...cron }));
  const over = { ...NIGHTLY_VIEW, id: "past", status: "Over", nextAt: null, nextDueAt: null, outcome: "created" };
  const times = { cron: cron.cron, everyMs: null, hours: null, timeZone: "UTC", version: null, times: [] };
  const known = { "PUT schedules/past": { status: 201, body: over }, "POST schedules/preview": { body: times } };
  const isOver = "and is Over: no time of it is left, see its endAt\n";
  expect(await unacked(`apply -f ${file}`, known)).toEqual({ code: 0, out: `schedule past created, ${isOver}`, err: "" });
  const unknown = { ...known, "GET schedules/past": { status: 404, body: problemExample("schedule-not-found") } };
  const dry = await unacked(`apply -f ${file} --dry-run`, unknown);
  expect(dry).toMatchObject({ code: EXIT_CODES.differs, out: `schedule past would be created, ${isOver}` });
});

it("apply --dry-run says of a schedule whether anything would be done, and what", async () => {
  const file = join(folder, "nightly.yaml");
  const times = { cron: null, everyMs: null, hours: null, timeZone: "UTC", version: null, times: [] };
  const known = {
    [`GET schedules/${NIGHTLY_VIEW.id}`]: { body: NIGHTLY_VIEW },
    "POST schedules/preview": { body: times },
  };
  writeFileSync(file, JSON.stringify(NIGHTLY_VIEW));
  expect(await unacked(`apply -f ${file} --dry-run`, known)).toMatchObject({ code: 0, err: "" });
  const other = await unacked(`apply -f ${file} --set keep=7 --dry-run`, known);
  expect(other.out).toContain("would be replaced");
  expect(other.out).toContain("\n  keep: 100 -> 7\n");
  expect(other.code).toBe(EXIT_CODES.differs);
});

it("what apply is refused in one part costs the others nothing, and nothing is stopped for it", async () => {
  const file = join(folder, "all.json");
  const schedules = ["bad", "good"].map((schedule) => ({ schedule, cron: "0 12 * * *", task: { type: "report" } }));
  writeFileSync(file, JSON.stringify([{ name: "w1", type: "nope", labels: { app: "x" } }, ...schedules]));
  const { code, out, err } = await unacked(`apply -f ${file} --prune -l app=x`, {
    "GET observers/w1": { status: 404, body: problemExample("observer-not-found") },
    "GET observers": { body: { items: [observerView({ name: "old" })], nextCursor: null, total: 1 } },
    "POST observers/batch": { body: { results: [{ status: 422, problem: problemExample("unknown-type") }], accepted: 0 } },
    "PUT schedules/bad": { status: 422, body: problemExample("invalid-body") },
    "PUT schedules/good": { status: 201, body: { ...NIGHTLY_VIEW, id: "good", outcome: "created" } },
  });
  expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(/^schedule good created, next at .*\n$/) });
  expect(err).toContain("error: observer w1: ");
  expect(err).toContain("error: schedule bad: ");
  expect(err).toContain("Nothing was stopped, because not all could be applied: 1 that no file defines.");
  expect(err).toMatch(/error: 1 of 2 schedules were refused\.\n$/);
  expect(asked).not.toContain("POST /api/v1/observers/stop");
});

it.each([
  ["some have another label, or none", "-l app=x", [{ app: "x" }, { app: "y" }, {}], ["w1: app=y", "w2: no app"]],
  ["all lack it: it is mistyped", "-l app=xx", [{ app: "x" }], ["w0: app=x"]],
  ["one of several is lacked", "-l app=x,tier=a", [{ app: "x", tier: "a" }, { app: "x" }], ["w1: no tier"]],
])("apply stops none of a label that the files' own observers lack: %s", async (_, selector, labels, lacking) => {
  const file = join(folder, "pruned.json");
  const schedule = { schedule: "nightly", cron: "0 2 * * *", task: { type: "report" } };
  writeFileSync(file, JSON.stringify([...labels.map((each, i) => ({ name: `w${i}`, type: "t", labels: each })), schedule]));
  for (const dry of ["", " --dry-run"]) {
    const { code, out, err } = await unacked(`apply -f ${file} --prune ${selector}${dry}`, {});
    expect({ code, out, asked }).toEqual({ code: EXIT_CODES.usage, out: "", asked: [] });
    expect(err.match(/(?<=^ {2}observer ).*$/gm) ?? []).toEqual(lacking);
    expect(err).toMatch(/^error: --prune would stop .* Nothing was sent\.$/m);
  }
});

it("apply of files without observers stops none by a label, and is no mistake where none has it", async () => {
  const file = join(folder, "schedules.json");
  writeFileSync(file, JSON.stringify([{ schedule: "nightly", cron: "0 2 * * *", task: { type: "report" } }]));
  const answers = (...there: string[]) => ({
    "GET observers": { body: { items: there.map((name) => observerView({ name })), nextCursor: null, total: there.length } },
    "PUT schedules/nightly": { status: 201, body: { ...NIGHTLY_VIEW, outcome: "created" } },
  });
  const refused = await unacked(`apply -f ${file} --prune -l app=x`, answers("old"));
  expect({ code: refused.code, out: refused.out }).toEqual({ code: EXIT_CODES.usage, out: "" });
  expect(refused.err).toMatch(/^error: --prune would stop all that have app=x \(1\): .* Nothing was changed\.$/m);
  expect(asked.every((one) => one.startsWith("GET "))).toBe(true);
  const applied = await unacked(`apply -f ${file} --prune -l app=x`, answers());
  expect({ code: applied.code, err: applied.err }).toEqual({ code: 0, err: "" });
  expect(applied.out).toMatch(/^schedule nightly created, next at /);
});

describe("what to do about a problem", () => {
  const ALL: Partial<ProblemDetails> = {
    knownTypes: ["a"],
    knownPools: ["demo"],
    taskId: TASK_ID,
    neededRole: "operator",
    specVersion: 2,
  };
  const remedyOf = (code: ProblemCode, more: Partial<ProblemDetails> = ALL) =>
    problemFailure({ ...problemExample(code), ...more }).remedy ?? "";

  it.each(Object.keys(PROBLEMS) as ProblemCode[])(
    "of %s names no member that is not printed, and no option of REST",
    (code) => {
      const unseen =
        /`(errors|neededRole|taskId|differs|knownTypes|knownPools|startAt|follow|from)`|whenFull|onConflict|\?force|ETag/;
      expect(remedyOf(code)).not.toMatch(unseen);
      expect(remedyOf(code, {})).not.toMatch(unseen);
    },
  );

  it.each<[ProblemCode, string]>([
    ["key-taken", `unacked describe task ${TASK_ID}`],
    ["key-taken", "--on-conflict"],
    ["unknown-type", "(--pool demo, or in a file pool: demo)"],
    ["pool-not-served", "(--pool demo, or in a file pool: demo)"],
    ["pool-not-served", "--queue"],
    ["forbidden", "the role operator"],
  ])("of %s says %s", (code, said) => {
    expect(failureText(problemFailure({ ...problemExample(code), ...ALL }))).toContain(said);
  });

  it("of a type that another pool knows says that none is known in the pool that was asked for", () => {
    const problem = { ...problemExample("unknown-type"), knownTypes: [], knownPools: ["demo"] };
    expect(problemFailure(problem).details).toEqual(["no type is known in that pool"]);
  });
});

it("run says of a task that no living service has its type: it may be mistyped", async () => {
  const created = (more: object) => ({ "POST tasks": { status: 201, body: { ...CREATED, ...more } } });
  const { code, out, err } = await unacked("run resize", created({ waitsFor: "service" }));
  expect({ code, out }).toEqual({ code: 0, out: `task ${TASK_ID} is Ready\n` });
  expect(err).toContain("No living service of the pool default has the task type resize; the task waits for one.");
  expect((await unacked("run resize", created({}))).err).toBe("");
});

it("a path that the manager does not have is told with the address, which may be wrong", async () => {
  const { err } = await unacked("get obs", { "GET observers": { status: 404, body: problemExample("not-found") } });
  expect(err).toContain("Check the address: unacked config view.");
});

it("logs says why there are none, also by a word of a newer manager", async () => {
  const { id } = observerView();
  const none = { observer: { id, name: "w1" }, status: "Processing", run: null, entries: [], omitted: 0 };
  const why = (reason: string) => ({ "GET observers/w1/logs": { body: { ...none, reason } } });
  expect((await unacked("logs w1", why("no-run"))).err).toBe("observer w1 is Processing: it has not run yet.\n");
  expect((await unacked("logs w1", why("rotated"))).err).toBe("observer w1 is Processing: rotated.\n");
});

it("watch says of a name that nothing has, as it may be mistyped", async () => {
  const known = {
    "GET observers/w1": { body: observerView({ name: "w1" }) },
    "GET observers/w2": { status: 404, body: problemExample("observer-not-found") },
    "GET observers/w3": { status: 503, body: problemExample("not-ready") },
  };
  expect((await unacked("watch w1 w2 w3", known)).err).toBe(
    "There is no observer w2 now. It is shown when it is created.\n",
  );
});

it("figures without a row say so, where somebody reads them", async () => {
  const AT = "2026-01-01T00:00:00.000Z";
  const nothing = { "GET stats/runs": { body: { since: AT, at: AT, items: [], byType: [], byService: [] } } };
  expect(await unacked("figures --type nope", nothing)).toEqual({
    code: 0,
    out: "",
    err: "Nothing happened in this time.\n",
  });
  expect((await unacked("figures -o json", nothing)).err).toBe("");
});

it("apply creates none that was Paused or over when get wrote it down, and has a schedule Paused again", async () => {
  const file = join(folder, "backup.json");
  const views = [observerView({ name: "runs" }), observerView({ name: "held", status: "Paused" })];
  writeFileSync(file, JSON.stringify({ items: [...views, { ...NIGHTLY_VIEW, status: "Paused" }] }));
  const missing = { status: 404, body: problemExample("observer-not-found") };
  const known = {
    "GET observers/runs": missing,
    "GET observers/held": missing,
    "POST observers/batch": { body: { results: [{ status: 201, observer: views[0] }], accepted: 1 } },
    [`PUT schedules/${NIGHTLY_VIEW.id}`]: { status: 201, body: { ...NIGHTLY_VIEW, outcome: "created" } },
    [`POST schedules/${NIGHTLY_VIEW.id}/pause`]: { body: { ...NIGHTLY_VIEW, status: "Paused" } },
  };
  const { code, out, err } = await unacked(`apply -f ${file}`, known);
  expect({ code, out }).toEqual({
    code: 1,
    out: `observer runs created\nschedule ${NIGHTLY_VIEW.id} created, and is Paused\n`,
  });
  expect(err).toContain("observer held: Paused");

  const there = { ...known, "GET observers/held": { body: views[1] as object } };
  expect((await unacked(`apply -f ${file}`, there)).out).toContain("observer held unchanged (Paused)");

  writeFileSync(file, JSON.stringify({ items: views }));
  expect(await unacked(`create -f ${file}`, known)).toMatchObject({ code: 1, out: "" });
  expect(asked).toEqual([]);
});

it("describe tells each that is there, beside one that is mistyped", async () => {
  const [w1, w2] = ["w1", "w2"].map((name) => observerView({ name, id: `0197d5c0-0000-7000-8000-00000000000${name[1]}` }));
  const of = (observer = observerView()): Answers => ({
    [`GET observers/${observer.name}`]: { body: observer },
    [`GET observers/${observer.id}/runs`]: { body: { items: [], total: 0 } },
  });
  const gone = { "GET observers/tpyo": { status: 404, body: problemExample("observer-not-found") } };
  const { code, out, err } = await unacked("describe w1 tpyo w2", { ...of(w1), ...of(w2), ...gone });
  expect(out.match(/^Name: +.*$/gm)).toEqual([expect.stringMatching(/w1$/), expect.stringMatching(/w2$/)]);
  expect(err).toMatch(/^error: observer tpyo: .*\nerror: 1 of 3 were not found\.\n$/);
  expect(code).toBe(EXIT_CODES.failed);
});

it("get runs shows those of each that is there, beside one that is mistyped", async () => {
  const [a, b] = ["a", "b"].map((name, i) => ({
    ...runView(),
    observerId: `0197d5c0-0000-7000-8000-00000000000${i}`,
  }));
  const { code, out, err } = await unacked("get runs a tpyo b", {
    "GET observers/a/runs": { body: { items: [a], total: 1 } },
    "GET observers/tpyo/runs": { status: 404, body: problemExample("observer-not-found") },
    "GET observers/b/runs": { body: { items: [b], total: 1 } },
  });
  expect(out.split("\n").map((line) => line.split(" ")[0])).toEqual(["OBSERVER", "a", "b", ""]);
  expect([code, err]).toEqual([1, expect.stringMatching(/^error: .*\n(.*\n)*error: 1 of 3 were not found\.\n$/)]);
});

it("get runs says that there are older ones than it is given", async () => {
  const older = { body: { items: [runView()], total: 2_345 } };
  const one = await unacked("get runs a -o json", { "GET observers/a/runs": older });
  expect(JSON.parse(one.out)).toEqual({ items: [runView()] });
  expect([one.code, one.err]).toEqual([EXIT_CODES.ok, "runs of a: the newest 1 of 2345\n"]);
  const all = { "GET observers/a/runs": older, "GET observers/b/runs": { body: { items: [runView()], total: 1 } } };
  expect((await unacked("get runs a b", all)).err).toBe(one.err);
});

it("get occurrences gives all there are, in as many calls as that takes, or as many as are asked for", async () => {
  const [newest] = OCCURRENCE_PAGE.items;
  const page = (count: number, nextCursor: string | null) => ({ body: { items: Array(count).fill(newest), nextCursor } });
  const pages = () => ({ "GET schedules/nightly/occurrences": [page(1_000, "c1"), page(200, null)] });
  const all = await unacked("get occurrences nightly -o name", pages());
  expect(all.out.split("\n")).toHaveLength(1_201);
  expect(asked).toEqual(["", "&cursor=c1"].map((rest) => `GET /api/v1/schedules/nightly/occurrences?limit=1000${rest}`));
  const some = await unacked("get occurrences nightly --limit 1200 -o json", pages());
  expect(JSON.parse(some.out)).toEqual({ items: Array(1_200).fill(newest) });
  expect(asked[1]).toBe("GET /api/v1/schedules/nightly/occurrences?limit=200&cursor=c1");
  await unacked("get occurrences nightly --limit 5", { "GET schedules/nightly/occurrences": page(5, "c1") });
  expect(asked).toEqual(["GET /api/v1/schedules/nightly/occurrences?limit=5"]);
});

it("apply takes what another apply has created meanwhile for what it is: there", async () => {
  const file = join(folder, "race.json");
  writeFileSync(file, JSON.stringify({ name: "w1", type: "ticker", params: { everyMs: 1_000 } }));
  const { code, out, err } = await unacked(`apply -f ${file}`, {
    "GET observers/w1": { status: 404, body: problemExample("observer-not-found") },
    "POST observers/batch": { body: { results: [{ status: 409, problem: problemExample("name-taken") }], accepted: 0 } },
    "PUT observers/w1": { body: { ...observerView({ name: "w1" }), outcome: "unchanged", changed: [] } },
  });
  expect({ code, out, err }).toEqual({ code: 0, out: "observer w1 unchanged\n", err: "" });
});

it("apply says of a Scheduled observer that its time cannot be changed, and does nothing", async () => {
  const file = join(folder, "scheduled.json");
  const write = (startAt: string) =>
    writeFileSync(file, JSON.stringify({ name: "w1", type: "ticker", params: { everyMs: 1_000 }, startAt }));
  const startAt = "2099-01-04T14:30:00.000Z";
  const there = (status: ObserverStatus) => ({
    "GET observers/w1": { body: observerView({ name: "w1", status, startAt }) },
  });
  write("2099-01-04T09:30:00-04:00");
  for (const dryRun of ["", " --dry-run"]) {
    const { code, out, err } = await unacked(`apply -f ${file}${dryRun}`, there("Scheduled"));
    expect({ code, out }).toEqual({ code: EXIT_CODES.failed, out: "" });
    expect(err).toContain(`observer w1: startAt: "${startAt}" -> "2099-01-04T13:30:00.000Z"`);
    expect(err).toContain("cannot be changed. Nothing was done. Stop it and apply again");
  }
  // Its time has come: what the file says of it is past.
  expect((await unacked(`apply -f ${file}`, there("Processing"))).out).toBe("observer w1 unchanged (Processing)\n");
  write("2099-01-04T09:30:00-05:00");
  expect((await unacked(`apply -f ${file}`, there("Scheduled"))).out).toBe("observer w1 unchanged (Scheduled)\n");
});

it("move moves each that can be, beside one that is mistyped", async () => {
  const names = Array.from({ length: 20 }, (_, i) => `w${i}`);
  const known = names.map((name) => [`POST observers/${name}/move`, { status: 202, body: observerView({ name }) }] as const);
  const gone = { "POST observers/tpyo/move": { status: 404, body: problemExample("observer-not-found") } };
  const { code, out, err } = await unacked(`move tpyo ${names.join(" ")}`, { ...Object.fromEntries(known), ...gone });
  expect(out.match(/^observer w\d+ leaves service-1$/gm)).toHaveLength(20);
  expect(err).toMatch(/^error: observer tpyo: .*\nerror: 1 of 21 were refused\.\n$/);
  expect(code).toBe(EXIT_CODES.failed);
});

it("schedule pause pauses each that is there, beside one that is mistyped", async () => {
  const of = (id: string) => ({ [`POST schedules/${id}/pause`]: { body: { ...NIGHTLY_VIEW, id, status: "Paused" } } });
  const gone = { "POST schedules/tpyo/pause": { status: 404, body: problemExample("schedule-not-found") } };
  const { code, out, err } = await unacked("schedule pause a tpyo b", { ...of("a"), ...gone, ...of("b") });
  expect(out).toBe("schedule a is Paused\nschedule b is Paused\n");
  expect(err).toMatch(/^error: schedule tpyo: .*\nerror: 1 of 3 were refused\.\n$/);
  expect(code).toBe(EXIT_CODES.failed);
});

it("schedule preview shows the times of each that is there, beside one that is mistyped", async () => {
  const of = (id: string) => ({ [`GET schedules/${id}/next`]: { body: NEXT_TIMES } });
  const gone = { "GET schedules/tpyo/next": { status: 404, body: problemExample("schedule-not-found") } };
  const { code, out, err } = await unacked("schedule preview a tpyo b -n 1", { ...of("a"), ...gone, ...of("b") });
  expect(out.match(/^[ab]$/gm)).toEqual(["a", "b"]);
  expect(err).toMatch(/^error: schedule tpyo: .*\nerror: 1 of 3 were refused\.\n$/);
  expect(code).toBe(EXIT_CODES.failed);
});

it("schedule preview says of files that they define no schedule", async () => {
  const file = join(folder, "no-schedule.yaml");
  writeFileSync(file, "name: a\ntype: ticker\n");
  const { code, err } = await unacked(`schedule preview -f ${file}`, {});
  expect([code, err]).toEqual([EXIT_CODES.usage, expect.stringContaining(`error: There is no schedule in ${file}.`)]);
});

describe("a refusal says what it is about, also where the call's path does not", () => {
  const refused = { status: 409, body: { ...problemExample("id-taken"), title: "T", detail: "T", remedy: "" } };
  const schedule = join(folder, "about.json");
  writeFileSync(schedule, JSON.stringify({ schedule: "nightly", cron: "0 2 * * *", task: { type: "resize" } }));

  it.each([
    ["run resize", "POST tasks", "task of type resize"],
    ["flow create fetch parse", "POST flows", "the flow"],
    ["cancel --all", "POST tasks/cancel", "tasks"],
    ["rerun --all", "POST tasks/retry", "tasks"],
    [`schedule preview -f ${schedule}`, "POST schedules/preview", "schedule nightly"],
    [`apply --dry-run -f ${schedule}`, "POST schedules/preview", "schedule nightly"],
  ])("%s", async (line, call, about) => {
    expect((await unacked(line, { [call]: refused })).err).toBe(`error: ${about}: T.\n`);
  });

  it("of an observer that is changed its name, whatever was typed", async () => {
    const observer = observerView({ name: "shop" });
    const known = { [`GET observers/${observer.id}`]: { body: observer }, [`PATCH observers/${observer.id}`]: refused };
    const { err } = await unacked(`change ${observer.id} --label a=b`, known);
    expect(err).toBe("error: observer shop: T.\n");
  });
});

describe("a task that no service of its pool can run", () => {
  const waits = { "POST tasks": { status: 201, body: { ...CREATED, pool: "fsat", waitsFor: "service" } } };
  const services = (...pools: string[]) => ({
    "GET services": { body: { items: pools.map((pool) => serviceView({ pool })), total: pools.length } },
  });

  it("names the pools that are served where nobody serves its own, and takes it back", async () => {
    const { code, err } = await unacked("run resize --pool fsat", { ...waits, ...services("fast", "default", "fast") });
    expect(err).toBe(
      `No service works in the pool fsat; served are: default, fast. The task waits for one. To take it back: unacked cancel ${TASK_ID}\n`,
    );
    expect(code).toBe(EXIT_CODES.ok);
    expect((await unacked("run resize --pool fsat", { ...waits, ...services() })).err).toContain("fsat, nor in any other.");
  });

  it("names the new file where somebody serves it, or that is not known", async () => {
    const remedy = "To load a new file: unacked reload --pool fsat";
    expect((await unacked("run resize --pool fsat", { ...waits, ...services("fsat") })).err).toContain(remedy);
    expect((await unacked("run resize --pool fsat", waits)).err).toContain(remedy);
  });
});

it("run --in starts a task so long from now", async () => {
  await unacked("run resize --in 90s", { "POST tasks": { status: 201, body: CREATED } });
  expect(JSON.parse(sent)).toMatchObject({ startAt: "1970-01-01T00:01:31.000Z" });
});

describe("cancel and rerun of named tasks", () => {
  const OTHER = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2fff";
  const standing = {
    [`GET tasks/${TASK_ID}`]: { body: COMPLETED },
    [`GET tasks/${OTHER}`]: { status: 404, body: problemExample("task-not-found") },
  };

  it("say how each stands where some were left as they are", async () => {
    const none = { "POST tasks/cancel": { body: { matched: 0, accepted: 0, more: false } } };
    expect(await unacked(`cancel ${TASK_ID} ${OTHER}`, { ...none, ...standing })).toEqual({
      code: EXIT_CODES.failed,
      out: "0 of 2 tasks: cancelled, or told to end\n",
      err: `error: 2 of 2 were left as they are. They stand so now:\n  task ${TASK_ID} is Completed\n  task ${OTHER}: No such task\n`,
    });
  });

  it("ask for nothing more where all was done", async () => {
    const { code, err } = await unacked(`rerun ${TASK_ID}`, {
      "POST tasks/retry": { body: { matched: 1, accepted: 1, more: false } },
    });
    expect([code, err, asked.length]).toEqual([EXIT_CODES.ok, "", 1]);
  });
});

it("describe asks of a service for the newest tasks that run there, and get lists them all", async () => {
  const service = serviceView({ name: "worker-1", tasks: { workers: 20, types: ["resize"] } });
  const page = { items: [TASK_RUNNING], total: 31, isTotalExact: true, nextCursor: null };
  const { code, out } = await unacked("describe service worker-1", {
    "GET services": { body: { items: [service], total: 1 } },
    "GET observers": { body: { items: [observerView()], total: 1, nextCursor: null } },
    "GET tasks": { body: page },
  });
  expect(code, out).toBe(0);
  expect(asked).toContain(`GET /api/v1/tasks?service=${service.id}&limit=20`);
  expect(out).toContain(`  ${TASK_ID}   resize   Running `);
  expect(out).toContain("  … and 30 more: ");
  await unacked("get tasks --filter service=worker-1", { "GET tasks": { body: page } });
  expect(asked).toEqual(["GET /api/v1/tasks?service=worker-1&limit=1000"]);
});

it("get task-failures asks for those of a type and a pool alone, and says of which it knows not all", async () => {
  const known = { "GET task-failures": { body: { ...TASK_FAILURES, isComplete: false } } };
  const { code, out, err } = await unacked("get task-failures --filter type=resize --filter pool=prices", known);
  expect(asked).toEqual(["GET /api/v1/task-failures?type=resize&pool=prices"]);
  expect([code, out.split("\n").length]).toEqual([0, 3]);
  expect(err).toContain("these are the newest 310");
  await unacked("get task-failures", known);
  expect(asked).toEqual(["GET /api/v1/task-failures"]);
  expect((await unacked("get task-failures --filter errorGroup=x", known)).err).toContain("the keys are type, pool.");
  expect(asked).toEqual([]);
});

it("a filter of tasks takes one type", async () => {
  const { code, err } = await unacked("get tasks --filter type=naughty,feed", {});
  expect(err).toBe("error: type=naughty,feed: a filter takes one type. Only status takes several.\n");
  expect([code, asked]).toEqual([EXIT_CODES.usage, []]);
});

it("a refusal says once what its title and detail both say", () => {
  for (const code of ["pool-not-served", "unknown-type"] as const) {
    const text = failureText(problemFailure(problemExample(code), "observer w1"));
    expect(text.match(/No living service/g)).toHaveLength(1);
  }
});

it("get errors shows each observer by its name, and by its id where it is not known any more", async () => {
  const items = [ERROR_ENTRY, { ...ERROR_ENTRY, observerName: null }];
  const { out } = await unacked("get errors", { "GET errors": { body: { items, total: 2, nextCursor: null } } });
  const [, first = "", second = ""] = out.split("\n");
  expect([first.trim().split(/ {2,}/).at(-1), second.trim().split(/ {2,}/).at(-1)]).toEqual([
    ERROR_ENTRY.observerName,
    ERROR_ENTRY.observerId,
  ]);
});
