import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { almostRight, type BodySchema, type KnownValues, written } from "../support/rest/odd-bodies.ts";
import { bodyOf, openApi } from "../support/rest/rest-contract.ts";
import { expectRightRefusal } from "../support/rest/right-refusals.ts";
import { inTurn } from "../support/runs/turns.ts";
import { putObserver, putRunning, putService } from "../support/servers/books.ts";

/* Bodies that are right in all but one field, which is odd, and mostly taken: so SQL sees what no client would send. */

const RUNS = 40;
const LETTERS = { type: "object", properties: {}, additionalProperties: true };

const { books, manager } = useHttpManager({
  emptied: "observers, services, commands, errors",
  rows: async ({ dataSource }) => {
    const types = ["ticker", "http-poll"].map((type) => ({ type, description: "", paramsSchema: LETTERS }));
    await putService(dataSource, { name: "alpha", types, worker_count: 1_000 });
    await putRunning(dataSource, { name: "runs", type: "http-poll", labels: { team: "web" } });
    await putObserver(dataSource, { name: "failed", status: "Failed", type: "http-poll" });
    await putObserver(dataSource, { name: "at-rest", status: "Paused", type: "saves" });
  },
});

const document = openApi();
const OPERATIONS = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, operation]) => {
    const media = bodyOf(document, operation)?.content["application/json"];
    if (media === undefined) return [];
    const rights = Object.values(media.examples as Record<string, { value: object }>).map(({ value }) => value);
    const schema = media.schema as BodySchema;
    return [{ operationId: operation.operationId, method: method.toUpperCase(), path, rights, schema }];
  }),
);

const KNOWN: KnownValues = {
  type: fc.constantFrom("ticker", "http-poll", "resize", "__proto__", "x".repeat(64)),
  names: fc.constantFrom(["runs"], ["failed", "nobody"], ["at-rest", "at-rest"]),
  cron: fc.constantFrom("* * * * *", "0 0 29 2 *", "0 0 31 2 *", "*/7 * * * * *", "59 23 31 12 7", "@daily", "0 0 1 1 *\0"),
  timeZone: fc.constantFrom("UTC", "Asia/Kathmandu", "America/Nuuk", "Etc/GMT+12", "+14:00", "europe/berlin", "Mars/Base"),
  timeParam: fc.constantFrom("at", "__proto__", "\0", ""),
  key: fc.constantFrom("k", "\0", "\ud800", "💥", "'", "x".repeat(300), ""),
};

/** What one call takes by that name, and others not. */
const KNOWN_TO: Record<string, KnownValues> = {
  takeTasks: { wait: fc.constantFrom(0, 1, -1, 0.5, 30_001, Number.MAX_SAFE_INTEGER + 1) },
  rerunFlow: { from: fc.constantFrom("fetch", ["fetch"], ["fetch", "parse"], "nobody", [""], undefined) },
};

const call = (method: string, path: string, json: object) => manager.call(method, `/api/v1${path}`, { json });
const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

async function createdTask(): Promise<string> {
  const { status, body, text } = await call("POST", "/tasks", { type: "resize" });
  expect(status, text).toBe(201);
  return body.id;
}

async function cancelledTask(): Promise<string> {
  const id = await createdTask();
  await manager.call("DELETE", `/api/v1/tasks/${id}`);
  return id;
}

/** Over, with what failed. */
async function failedFlow(): Promise<string> {
  const { body } = await call("POST", "/flows", { stages: ["fetch", "parse", "store"] });
  const { dataSource } = books;
  await dataSource.query("UPDATE flow_tasks SET status = 'Failed', ended_at = now() WHERE flow_id = $1", [body.id]);
  await dataSource.query("UPDATE flows SET status = 'Failed', failed = 3, ended_at = now() WHERE id = $1", [body.id]);
  return body.id;
}

async function takenTask(): Promise<Given> {
  await call("POST", "/tasks", { type: "taken" });
  const { body } = await call("POST", "/tasks/take", { types: ["taken"] });
  const [{ id, sendId }] = body.tasks;
  return { places: { taskId: id }, over: { sendId } };
}

async function schedule(scheduleId: string): Promise<Places> {
  await call("PUT", `/schedules/${scheduleId}`, { cron: "0 0 * * *", task: { type: "resize", params: {} } });
  return { scheduleId };
}

/** What has the same names and ids is new again. */
async function emptied(table: string): Promise<Given> {
  await books.dataSource.query(`TRUNCATE ${table} CASCADE`);
  return {};
}

type Body = Record<string, unknown>;
type Places = Record<string, string>;
interface Given {
  places?: Places;
  /** Of the body, where it is not odd: what is new each time. */
  over?: Body;
}

/** Over what the document shows, which is taken once only, or waits, or was long ago. */
const RIGHTS: Record<string, Body> = {
  createObserver: { id: undefined },
  createObservers: { observers: [0, 1].map((place) => ({ name: `of-many-${place}`, type: "ticker" })) },
  createTask: { id: undefined },
  takeTasks: { wait: 0 },
  createFlow: { id: undefined },
  rerunFlow: { from: undefined },
  createTimers: { timers: [0, 1].map(() => ({ id: randomUUID(), inMs: 300_000, name: "tea.ready" })) },
  backfillSchedule: { from: daysAgo(8), to: daysAgo(1) },
  beginWork: { id: undefined },
};

/** What each request is about, where it is not enough that anything is there. */
const GIVEN: Record<string, () => Promise<Given> | Given> = {
  createObserver: () => ({ over: { name: `o-${randomUUID()}` } }),
  createObservers: () => emptied("observers"),
  createTimers: () => emptied("timers"),
  putObserver: () => ({ places: { ref: `put-${randomUUID()}` } }),
  putCheckpoint: () => ({ places: { ref: "at-rest" } }),
  changeTask: async () => ({ places: { taskId: await createdTask() } }),
  retryTaskWith: async () => ({ places: { taskId: await cancelledTask() } }),
  completeTask: takenTask,
  failTask: takenTask,
  extendTask: takenTask,
  releaseTask: takenTask,
  rerunFlow: async () => ({ places: { flowId: await failedFlow() } }),
  putSchedule: () => ({ places: { scheduleId: `put-${randomUUID()}` } }),
  runSchedule: async () => ({ places: await schedule("runs") }),
  backfillSchedule: async () => ({ places: await schedule("filled") }),
};

const filled = (path: string, places: Places): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name] ?? PLACES[name]?.() ?? name);
const PLACES: Record<string, () => string> = {
  ref: () => "runs",
  timerId: randomUUID,
  taskType: () => "resize",
  pool: () => "default",
};

/** What has been taken is there to be read. */
const LISTS = ["observers", "tasks", "task-types", "flows", "timers", "schedules", "work", "audit", "task-failures"];

const seen: Record<string, Record<number, number>> = {};
afterAll(() => {
  for (const [operationId, statuses] of Object.entries(seen))
    process.stdout.write(`${operationId} ${JSON.stringify(statuses)}\n`);
});

test.each(inTurn(OPERATIONS))(
  "$operationId: bodies that are right but for one odd field are taken or refused, none gets a 5xx, and what they leave can be read",
  async ({ operationId, method, path, rights, schema }) => {
    const statuses: Record<number, number> = {};
    let taken = 0;
    seen[operationId] = statuses;
    const known = { ...KNOWN, ...KNOWN_TO[operationId] };
    const oddOf = (right: Body) => almostRight(right, schema, known).map((odd) => ({ right, odd: odd as Body }));
    const drawn = fc.constantFrom(...rights.map((right): Body => ({ ...right, ...RIGHTS[operationId] }))).chain(oddOf);
    const property = fc.asyncProperty(drawn, async ({ right, odd }) => {
      const { places = {}, over = {} } = (await GIVEN[operationId]?.()) ?? {};
      const given = Object.entries(over).filter(([name]) => odd[name] === right[name]);
      const body = written({ ...odd, ...Object.fromEntries(given) });
      const headers = { "content-type": "application/json" };
      const { status, text } = await manager.call(method, filled(path, places), { body, headers });
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (expectNoFault(text, status)) taken += 1;
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true }); // each try changes the books: a smaller one tells no more
    expect(manager.lines.filter(({ level }) => level === "error")).toEqual([]);
    expect(taken, JSON.stringify(statuses)).toBeGreaterThan(0);
    for (const list of LISTS) {
      const { status, text } = await manager.call("GET", `/api/v1/${list}`);
      expect(status, `${list}: ${text}`).toBe(200);
    }
  },
);

/** Of the whole answer, and of each of a batch. @returns whether something was taken */
function expectNoFault(text: string, status: number): boolean {
  const { code, results = [] } = (text === "" ? {} : JSON.parse(text)) as Answered;
  const all = [{ status, code }, ...results.map((one) => ({ status: one.status, code: one.problem?.code }))];
  for (const one of all) if (one.status >= 400) expectRightRefusal(one.status, one.code, text);
  return status < 300 && (results.length === 0 || results.some((one) => one.status < 300));
}

interface Answered {
  code?: string;
  results?: { status: number; problem?: { code: string } }[];
}
