import { randomUUID } from "node:crypto";
import {
  CALLS,
  type Call,
  checkpointTag,
  MAX_REQUEST_BODY_BYTES,
  type ObserverId,
  type ProblemCode,
  specTag,
} from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import type { ObserverDefinition } from "../../libs/sdk/src/observer-definition.ts";
import { paramsJsonSchema } from "../../libs/sdk/src/params-json-schema.ts";
import { everythingPermitted } from "../../libs/sdk/src/permissions.ts";
import httpPoll from "../../observers/http-poll.ts";
import ticker from "../../observers/ticker.ts";
import type { HttpAccess } from "../../services/observer-manager/src/adapters/http/server/app.ts";
import { recordErrors } from "../../services/observer-manager/src/adapters/postgres/errors/error-rows.ts";
import type { Verdict } from "../../services/observer-manager/src/domain/access/identity.ts";
import type { NewError } from "../../services/observer-manager/src/operations/books/books-store.ts";
import type { ManagerApi } from "../../services/observer-manager/src/operations/manager-api.ts";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { type HttpManager, startHttpManager, useHttpManager } from "../support/rest/http-manager.ts";
import { sendRaw } from "../support/rest/raw-request.ts";
import type { CallOptions } from "../support/rest/rest-client.ts";
import { bodyOf, openApi } from "../support/rest/rest-contract.ts";
import { seenOfDocument } from "../support/rest/watched-answers.ts";
import { putObserver, putRunning, putService } from "../support/servers/books.ts";
import { startMessage } from "../support/system/observer-service.ts";

/*
 * Every call of the OpenAPI document, with every answer that it describes. What is answered is held against the document on
 * the way (test/support/rest/watched-answers.ts); the last test tells what was never seen.
 */

interface DocumentedCall {
  operationId: string;
  method: string;
  path: string;
  /** Of every problem that it can be answered with. */
  codes: string[];
  /** By name; none where no body is taken. */
  bodies: Record<string, { value: unknown }>;
}

const document = openApi();

const calls: DocumentedCall[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    operationId: operation.operationId,
    method: method.toUpperCase(),
    path,
    codes: Object.values(operation.responses).flatMap(({ content }) =>
      Object.keys(content?.["application/problem+json"]?.examples ?? {}),
    ),
    bodies: (bodyOf(document, operation)?.content["application/json"]?.examples ?? {}) as DocumentedCall["bodies"],
  })),
);
const callsWith = (code: ProblemCode) => calls.filter(({ codes }) => codes.includes(code));
const callsWithBody = calls.filter(({ bodies }) => Object.keys(bodies).length > 0);

const { books, manager } = useHttpManager({
  emptied: "observers, services, commands, errors",
  rows: async (books) => {
    const types = [httpPoll.under(everythingPermitted), ticker].map((definition) => {
      const { type, description = "" } = definition;
      return { type, description, paramsSchema: paramsJsonSchema(definition as ObserverDefinition).schema };
    });
    await putService(books.dataSource, { types, worker_count: 50 });
  },
});

/** The documented call, about things that are not there unless `places` says otherwise. */
async function make(
  { method, path, bodies }: DocumentedCall,
  {
    to = manager,
    places = {},
    query = "",
    ...options
  }: CallOptions & { to?: HttpManager; places?: Places; query?: string } = {},
) {
  const [body] = Object.values(bodies);
  return to.call(method, `${filled(path, places)}${query}`, { ...(body && { json: body.value }), ...options });
}

type Places = Record<string, string>;

/** Shaped as it must be to be looked for. */
const NOBODY: Places = {
  taskId: randomUUID(),
  taskType: "nobodys",
  timerId: randomUUID(),
  scheduleId: "nobodys",
  pool: "nobodys",
  flowId: randomUUID(),
  workId: randomUUID(),
};

const filled = (path: string, places: Places = {}): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name] ?? NOBODY[name] ?? "0");

const named = (operationId: string): DocumentedCall => {
  const call = calls.find((one) => one.operationId === operationId);
  if (call === undefined) throw new Error(`the document has no ${operationId}`);
  return call;
};

/** A task that somebody outside has taken, by this send. */
async function takenWith(sendId: string = randomUUID()): Promise<string> {
  const { body } = await make(named("createTask"), { json: { type: "taken" } });
  expect((await make(named("takeTasks"), { json: { types: ["taken"], count: 100 } })).body.tasks.length).toBeGreaterThan(0);
  await books.dataSource.query("UPDATE tasks SET send_id = $1 WHERE id = $2", [sendId, body.id]);
  return body.id;
}

async function cancelledTask(): Promise<string> {
  const { body } = await make(named("createTask"), { json: { type: "resize" } });
  expect((await make(named("cancelTask"), { places: { taskId: body.id } })).status).toBe(202);
  return body.id;
}

/** Over, and of three stages, none of which completed. */
async function failedFlow(): Promise<string> {
  const { body } = await make(named("createFlow"), { json: { stages: ["fetch", "parse", "store"] } });
  const { dataSource } = books;
  await dataSource.query(
    "UPDATE flow_tasks SET status = CASE WHEN ref = 'fetch' THEN 'Completed' ELSE 'Failed' END, ended_at = now() WHERE flow_id = $1",
    [body.id],
  );
  await dataSource.query("UPDATE flows SET status = 'Failed', completed = 1, failed = 2, ended_at = now() WHERE id = $1", [
    body.id,
  ]);
  return body.id;
}

async function report(observerId?: ObserverId, more: Partial<NewError> = {}): Promise<string> {
  const error = {
    reason: "retries-used-up",
    detail: "Error: boom",
    queue: "q",
    messageId: randomUUID(),
    reporter: "r",
  } as const;
  await recordErrors(books.dataSource.manager, [{ ...error, observerId, body: "{", bodyBytes: 1, ...more }]);
  return (await manager.call("GET", "/api/v1/errors?limit=1")).body.items[0].id;
}

describe("a body that the document shows", () => {
  const examples = callsWithBody.flatMap((call) =>
    Object.entries(call.bodies).map(([example, { value }]) => ({ call, operationId: call.operationId, example, value })),
  );

  test.each(examples)("is taken: $operationId, $example", async ({ call, value }) => {
    await putRunning(books.dataSource, { name: "some-other", type: "http-poll", labels: { team: "web" } });
    await make(named("createTask"), { json: { type: "resize" } });
    const ofEnds = () => takenWith((value as { sendId?: string }).sendId);
    const taskId = await (call.operationId === "retryTaskWith" ? cancelledTask() : ofEnds());
    const flowId = call.operationId === "rerunFlow" ? await failedFlow() : randomUUID();
    const nightly = { cron: "0 0 * * *", task: { type: "resize", params: {} } };
    await make(named("putSchedule"), { places: { scheduleId: "shown" }, json: nightly });
    await putObserver(books.dataSource, { name: "at-rest", status: "Paused", type: "saves" });
    const ref = call.operationId === "putCheckpoint" ? "at-rest" : "some-other";
    const places = { pool: "default", taskType: "resize", taskId, scheduleId: "shown", flowId, ref };
    const { status, text, body } = await make(call, { json: value, places });
    expect([200, 201, 202], text).toContain(status);
    const results: { status: number; problem?: { code: string } }[] = body.results ?? [];
    expect(results.filter(({ problem }) => problem !== undefined && problem.code !== "observer-not-found")).toEqual([]);
  });
});

describe("a call that succeeds is answered as described", () => {
  test("about observers", async () => {
    const run = await putRunning(books.dataSource, { name: "runs" });
    const json = { name: "twice", type: "ticker", id: randomUUID() };
    for (const status of [201, 200]) expect((await make(named("createObserver"), { json })).status).toBe(status);
    for (const operationId of ["listObservers", "listObserverColumns", "getObserver", "listRuns"])
      expect((await make(named(operationId), { places: { ref: run } })).status).toBe(200);
    const fresh = await putObserver(books.dataSource, { name: "fresh" });
    const saves = await putObserver(books.dataSource, { name: "saves", type: "saves" });
    for (const operationId of ["putCheckpoint", "getCheckpoint", "resetCheckpoint"]) {
      const answer = await make(named(operationId), {
        places: { ref: saves },
        ...(operationId === "putCheckpoint" && { json: { value: { n: 1 } } }),
      });
      expect(answer.status, answer.text).toBe(200);
    }
    expect((await make(named("getLogs"), { places: { ref: fresh } })).status).toBe(200);
    for (const operationId of ["restartObserver", "pauseObserver", "resumeObserver", "deleteObserver"])
      expect((await make(named(operationId), { places: { ref: run } })).status).toBe(202);
    const paused = await putObserver(books.dataSource, { name: "paused", status: "Paused" });
    expect((await make(named("pauseObserver"), { places: { ref: paused } })).status).toBe(200);
    for (const operationId of ["stopObservers", "restartObservers", "pauseObservers", "resumeObservers"])
      expect((await make(named(operationId), { json: { ids: [run, randomUUID()] } })).body.results).toHaveLength(2);
  });

  test("about checkpoints that two people set at once", async () => {
    const ref = await putObserver(books.dataSource, { name: "set-by-two", type: "saves", status: "Paused" });
    const edit = (operationId: string, tag: string, n?: number) =>
      make(named(operationId), {
        places: { ref },
        headers: { "if-match": tag },
        ...(n !== undefined && { json: { value: { n } } }),
      });
    const none = (await make(named("getCheckpoint"), { places: { ref } })).headers.get("etag") ?? "";
    const first = await edit("putCheckpoint", none, 1);
    expect([first.status, first.headers.get("etag")]).toEqual([200, checkpointTag(first.body)]);
    const second = await edit("putCheckpoint", none, 2);
    expect([second.status, second.body.code, second.body.detail]).toEqual([
      412,
      "checkpoint-changed",
      `It is number 1 now, saved at ${first.body.savedAt}`,
    ]);
    expect((await edit("resetCheckpoint", none)).body.code).toBe("checkpoint-changed");
    // Whom no answer has reached asks again: it is so already, and is done once.
    expect((await edit("putCheckpoint", none, 1)).body).toEqual(first.body);
    const tag = checkpointTag(first.body);
    const gone = await edit("resetCheckpoint", tag);
    expect(gone.body).toMatchObject({ number: 0, value: null });
    expect((await edit("resetCheckpoint", tag)).body).toEqual(gone.body);
    // After a reset numbers begin anew: the same one is another.
    const anew = await edit("putCheckpoint", checkpointTag(gone.body), 3);
    expect([anew.body.number, (await edit("putCheckpoint", tag, 4)).status]).toEqual([1, 412]);
  });

  test("with receipts alone, where they are asked for", async () => {
    const minimal = { prefer: "respond-async, return=minimal" };
    const [known, name] = [randomUUID(), `receipt-${randomUUID()}`];
    const json = { tasks: [{ id: known, type: "any", params: { a: 1 } }, { type: 7 }] };
    const tasks = await make(named("createTasks"), { json, headers: minimal });
    expect(tasks.body.results).toEqual([
      { status: 201, task: { id: known, outcome: "created" } },
      { status: 422, problem: expect.objectContaining({ code: "invalid-body" }) },
    ]);
    expect(tasks.headers.get("preference-applied")).toBe("return=minimal");
    const again = await make(named("createTasks"), { json, headers: minimal });
    expect(again.body.results[0]).toEqual({ status: 200, task: { id: known, outcome: "exists" } });
    const whole = await make(named("createTasks"), { json, headers: { prefer: "return=representation, return=minimal" } });
    expect(whole.body.results[0].task).toMatchObject({ id: known, params: { a: 1 }, outcome: "exists" });
    expect(whole.headers.get("preference-applied")).toBeNull();
    const observers = await make(named("createObservers"), {
      json: { observers: [{ name, type: "ticker", params: { everyMs: 1_000 } }] },
      headers: minimal,
    });
    const [created] = observers.body.results;
    expect(created).toEqual({ status: 201, observer: { id: created.observer.id, name } });
    // What has no receipts is answered as ever.
    const single = await make(named("createTask"), { json: { type: "any", params: {} }, headers: minimal });
    expect(single.body).toMatchObject({ type: "any", params: {} });
    expect(single.headers.get("preference-applied")).toBeNull();
  });

  test("about observers that are changed", async () => {
    const ref = await putRunning(books.dataSource, { name: "changed" });
    const change = named("changeObserver");
    const tag = { "if-match": specTag({ id: ref, specVersion: 1 }) };
    expect((await make(change, { places: { ref }, json: { labels: { a: "b" } }, headers: tag })).status).toBe(200);
    expect((await make(change, { places: { ref }, json: { params: { everyMs: 700 } } })).status).toBe(202);
    const stale = await make(change, { places: { ref }, json: { params: { everyMs: 800 } }, headers: tag });
    expect([stale.status, stale.body]).toMatchObject([
      412,
      {
        code: "spec-changed",
        specVersion: 3,
        differs: [{ field: "params", now: { everyMs: 700 }, given: { everyMs: 800 } }],
      },
    ]);
    const ending = await putRunning(books.dataSource, { name: "ending", status: "OnDeleting" });
    expect((await make(change, { places: { ref: ending } })).body.code).toBe("already-deleting");
    const put = named("putObserver");
    const json = { type: "ticker", params: { everyMs: 700 } };
    const answers = [];
    for (const everyMs of [700, 700, 800])
      answers.push(await make(put, { places: { ref: "put" }, json: { ...json, params: { everyMs } } }));
    expect(answers.map(({ status, body }) => [status, body.outcome])).toEqual([
      [201, "created"],
      [200, "unchanged"],
      [202, "changed"],
    ]);
    expect((await make(put, { places: { ref: "changed" }, json })).status).toBe(202);
    expect((await make(put, { places: { ref: "nobody" }, json, headers: tag })).status).toBe(412);
    expect((await make(put, { places: { ref: "put" }, json: { ...json, type: "http-poll" } })).body.code).toBe("other-type");
  });

  test("about services and errors", async () => {
    const lastError = { last_error: { name: "Error", message: "boom" }, last_error_at: new Date() };
    const observerId = await putObserver(books.dataSource, { name: "failed", status: "Failed", ...lastError });
    const errorId = await report(observerId as ObserverId);
    for (const operationId of [
      "listServices",
      "listTypes",
      "getStats",
      "getErrorStats",
      "listErrors",
      "groupErrors",
      "getError",
    ]) {
      const { status, text } = await make(named(operationId), { places: { errorId } });
      expect(status, text).toBe(200);
    }
    const service = await putService(books.dataSource);
    expect((await make(named("drainService"), { places: { service } })).status).toBe(202);
    expect((await make(named("cordonService"), { places: { service } })).body.code).toBe("service-too-old");
    const features = JSON.stringify(["balance"]);
    const gives = await putService(books.dataSource, { features, pool: "spread", types: [{ type: "ticker" }] });
    for (const operationId of ["cordonService", "uncordonService"])
      expect((await make(named(operationId), { places: { service: gives } })).status).toBe(202);
    const reloads = await putService(books.dataSource, { features: JSON.stringify(["reload"]) });
    expect((await make(named("reloadService"), { places: { service: reloads } })).status).toBe(202);
    expect((await make(named("reloadService"), { places: { service } })).body.code).toBe("service-too-old");
    await books.dataSource.query("UPDATE services SET drain = 'none' WHERE id = $1", [gives]);
    const many = await Promise.all(
      Array.from({ length: 6 }, () => putRunning(books.dataSource, { pool: "spread", current_service_id: gives })),
    );
    const places = { pool: "spread", ref: many[0] as string };
    expect((await make(named("moveObserver"), { places })).body.code).toBe("nowhere-to-move");
    await putService(books.dataSource, { features, pool: "spread", types: [{ type: "ticker" }] });
    expect((await make(named("moveObserver"), { places })).status).toBe(202);
    const old = await putRunning(books.dataSource, { current_service_id: service });
    expect((await make(named("moveObserver"), { places: { ref: old } })).body.code).toBe("service-too-old");
    const nobodys = await putObserver(books.dataSource, { status: "Paused" });
    expect((await make(named("moveObserver"), { places: { ref: nobodys } })).body.code).toBe("not-movable");
    expect((await make(named("getBalance"), { places })).body).toMatchObject({ moves: 3 });
    expect((await make(named("rebalance"), { places, json: { dryRun: true } })).status).toBe(200);
    expect((await make(named("rebalance"), { places, json: {} })).status).toBe(202);
    expect((await make(named("cancelRebalance"), { places })).body).toMatchObject({ rebalance: { outcome: "cancelled" } });
    for (const operationId of ["getBalance", "rebalance", "cancelRebalance"])
      expect((await make(named(operationId))).body.code).toBe("pool-not-found");
    expect((await make(named("retryError"), { places: { errorId } })).status).toBe(202);
    expect((await make(named("deleteError"), { places: { errorId } })).status).toBe(204);
  });

  test("about tasks", async () => {
    const json = { type: "resize", params: { width: 3 }, id: randomUUID() };
    for (const status of [201, 200]) expect((await make(named("createTask"), { json })).status).toBe(status);
    expect((await make(named("createTask"), { json: { ...json, params: {} } })).body.code).toBe("id-taken");
    const places = { taskId: json.id };
    for (const operationId of [
      "getTask",
      "listTasks",
      "listTaskTypes",
      "listTaskFigures",
      "getTaskFigures",
      "groupTaskFailures",
    ])
      expect((await make(named(operationId), { places: { ...places, taskType: "resize" } })).status).toBe(200);
    const keyed = { type: "resize", key: "of-the-contract" };
    expect((await make(named("createTask"), { json: keyed })).body.outcome).toBe("created");
    expect((await make(named("createTask"), { json: keyed })).body.code).toBe("key-taken");
    // What waits cannot be retried, what is cancelled cannot be cancelled once more.
    for (const [operationId, status] of [
      ["changeTask", 200],
      ["retryTask", 409],
      ["cancelTask", 202],
      ["changeTask", 409],
      ["cancelTask", 409],
      ["retryTask", 202],
      ["retryTaskWith", 409],
      ["cancelTask", 202],
      ["retryTaskWith", 202],
    ] as const)
      expect([operationId, (await make(named(operationId), { places })).status]).toEqual([operationId, status]);
  });

  test("about timers", async () => {
    const places = { timerId: randomUUID() };
    const json = { at: "2100-01-01T00:00:00Z", name: "of.the.contract", payload: [1] };
    for (const status of [201, 200]) expect((await make(named("putTimer"), { places, json })).status).toBe(status);
    const replaced = await make(named("putTimer"), { places, json: { ...json, at: 4_102_444_801 } });
    expect(replaced.body).toMatchObject({ outcome: "replaced", at: "2100-01-01T00:00:01.000Z" });
    for (const operationId of ["getTimer", "listTimers", "cancelTimer", "cancelTimer", "getTimer"])
      expect((await make(named(operationId), { places })).status).toBe(200);
    expect((await make(named("putTimer"), { places, json })).body.code).toBe("timer-over");
    for (const [status, code] of [
      ["Fired", "already-fired"],
      ["Expired", "timer-over"],
    ]) {
      await books.dataSource.query("UPDATE ended_timers SET status = $1 WHERE id = $2", [status, places.timerId]);
      expect((await make(named("cancelTimer"), { places })).body.code).toBe(code);
    }
    for (const operationId of ["getTimer", "cancelTimer"])
      expect((await make(named(operationId), { places: { timerId: randomUUID() } })).body.code).toBe("timer-not-found");
    const cursor = (await make(named("listTimers"), { query: "?cursor=x" })).body;
    expect(cursor).toMatchObject({ code: "invalid-query", errors: [{ parameter: "cursor" }] });
  });

  test("about bulk work", async () => {
    const id = randomUUID();
    const json = { id, act: "pause", filter: { type: "nobodys" } };
    for (const status of [201, 200]) expect((await make(named("beginWork"), { json })).status).toBe(status);
    const other = await make(named("beginWork"), { json: { ...json, act: "stop" } });
    expect(other.body.code).toBe("id-taken");
    const places = { workId: id };
    for (const operationId of ["getWork", "listWork", "cancelWork", "cancelWork"])
      expect((await make(named(operationId), { places })).status).toBe(200);
    await books.dataSource.query("UPDATE works SET status = 'Done' WHERE id = $1", [id]);
    expect((await make(named("cancelWork"), { places })).body.code).toBe("work-over");
    for (const operationId of ["getWork", "cancelWork"])
      expect((await make(named(operationId))).body.code).toBe("work-not-found");
    const cursor = (await make(named("listWork"), { query: "?cursor=x" })).body;
    expect(cursor).toMatchObject({ code: "invalid-query", errors: [{ parameter: "cursor" }] });
  });

  test("about schedules", async () => {
    const places = { scheduleId: "of-the-contract" };
    const json = { cron: "0 0 1 1 *", task: { type: "resize", params: {} } };
    for (const status of [201, 200]) expect((await make(named("putSchedule"), { places, json })).status).toBe(status);
    const replaced = await make(named("putSchedule"), { places, json: { ...json, timeZone: "Europe/Berlin" } });
    expect(replaced.body).toMatchObject({ outcome: "replaced", version: 2 });
    for (const operationId of ["listSchedules", "pauseSchedule", "resumeSchedule", "nextTimes", "getSchedule"])
      expect((await make(named(operationId), { places })).status).toBe(200);
    expect((await make(named("runSchedule"), { places, json: {} })).body).toMatchObject({
      status: "started",
      cause: "manual",
    });
    const asked = { id: randomUUID(), overlap: "skip" };
    const skipped = await make(named("runSchedule"), { places, json: asked });
    expect((await make(named("runSchedule"), { places, json: asked })).body).toEqual(skipped.body);
    expect((await make(named("runSchedule"), { places, json: { id: asked.id } })).body.code).toBe("id-taken");
    // What runs by hand is not in its way: the first of them starts.
    const years = { from: "2020-01-01T00:00:00Z", to: "2025-01-01T00:00:00Z" };
    const told = (await make(named("backfillSchedule"), { places, json: years })).body;
    expect(told).toMatchObject({ cron: "0 0 1 1 *", timeZone: "Europe/Berlin", version: 2, times: 5, queued: 4 });
    expect((await make(named("listOccurrences"), { places })).body.items.length).toBe(7);
    expect((await make(named("previewSchedule"), { json, query: "?n=2" })).body.times.length).toBe(2);
    // Another Node took it, which knew more zones.
    const zone = (from: string, to: string) =>
      books.dataSource.query(
        "UPDATE schedules SET definition = replace(definition::text, $1, $2)::jsonb, paused_at = now(), due_at = NULL",
        [from, to],
      );
    await zone("Europe/Berlin", "Europe/Nowhere");
    for (const [operationId, body] of [
      ["resumeSchedule", undefined],
      ["nextTimes", undefined],
      ["runSchedule", {}],
      ["backfillSchedule", years],
    ] as const)
      expect((await make(named(operationId), { places, json: body })).body.code).toBe("schedule-unreadable");
    const hours = { hours: [{ from: "09:00", to: "17:00" }], observers: { names: ["a"] } };
    expect((await make(named("putSchedule"), { places, json: hours })).status).toBe(200);
    for (const [operationId, body] of [
      ["runSchedule", {}],
      ["backfillSchedule", years],
    ] as const)
      expect((await make(named(operationId), { places, json: body })).body.code).toBe("schedule-without-task");
    for (const operationId of ["listSchedules", "listOccurrences"]) {
      const cursor = (await make(named(operationId), { places, query: "?cursor=x" })).body;
      expect(cursor).toMatchObject({ code: "invalid-query", errors: [{ parameter: "cursor" }] });
    }
    for (const status of [204, 404]) expect((await make(named("deleteSchedule"), { places })).status).toBe(status);
  });

  test.each([
    [{ cron: "61 * * * *" }, "/cron"],
    [{ cron: "@daily" }, "/cron"],
    [{ cron: "* * * * * * *" }, "/cron"],
    [{ cron: "0 0 30 2 *" }, "/cron"],
    [{ cron: "* * * * *", timeZone: "Mars/Olympus" }, "/timeZone"],
    [{ cron: "* * * * *", everyMs: 1_000 }, ""],
    [{}, ""],
    [{ everyMs: 999 }, "/everyMs"],
    [{ everyMs: 1_000, timeZone: "UTC" }, "/timeZone"],
    [{ everyMs: 1_000, hours: [{ from: "09:00", to: "10:00" }] }, "/hours"],
    [{ everyMs: 1_000, startAt: "2030-01-01T00:00:00Z", endAt: "2030-01-01T00:00:00Z" }, "/endAt"],
    [{ everyMs: 1_000, task: { type: "resize", params: [], timeParam: "at" } }, "/task/params"],
    [{ everyMs: 1_000, observers: { names: ["a"] } }, ""],
    [{ everyMs: 1_000, task: undefined, observers: { names: ["a"] } }, "/everyMs"],
    [{ task: undefined, observers: { names: ["a"] }, hours: [{ from: "25:00", to: "10:00" }] }, "/hours/0/from"],
    [{ task: undefined, observers: { filter: {} }, hours: [{ from: "09:00", to: "10:00" }] }, "/observers/filter"],
  ])("a schedule that cannot be so is refused with its place: %j", async (more, pointer) => {
    const json = { task: { type: "resize", params: {} }, ...more };
    const { status, body } = await make(named("putSchedule"), { places: { scheduleId: "refused" }, json });
    expect([status, body.code, body.errors[0].pointer]).toEqual([422, "invalid-body", pointer]);
    const previewed = await make(named("previewSchedule"), { json });
    expect([previewed.status, previewed.body.errors[0].pointer]).toEqual([422, pointer]);
  });

  test.each([
    [{ at: "tomorrow" }, "/at", 422],
    [{ at: "0001-01-01T00:00:00Z" }, "/at", 422],
    [{ at: -1 }, "/at", 422],
    [{ at: 1e300 }, "/at", 422],
    [{ name: "a b" }, "/name", 422],
    [{ name: "x".repeat(201) }, "/name", 422],
    [{ name: "" }, "/name", 422],
    [{ expiresAt: "2099-12-31T00:00:00Z" }, "/expiresAt", 422],
    [{ payload: "\0" }, "/payload", 422],
    [{ payload: "x".repeat(65_536) }, undefined, 413],
    [{ payload: Array.from({ length: 213 }, () => 1e308) }, undefined, 413],
    [{ payload: Array.from({ length: 9_000 }, () => 5e-324) }, "/payload/811", 422],
    [{ colour: "red" }, "/colour", 422],
  ])("a timer that cannot be so is refused with its place, alone and in a batch: %j", async (more, pointer, status) => {
    const json = { at: "2100-01-01T00:00:00Z", name: "n", payload: null, ...more };
    const alone = await make(named("putTimer"), { places: { timerId: randomUUID() }, json });
    expect([alone.status, alone.body.errors?.[0]?.pointer]).toEqual([status, pointer]);
    const good = { id: randomUUID(), at: 4_102_444_800, name: "n", payload: "x".repeat(65_534) };
    const { body } = await make(named("createTimers"), { json: { timers: [{ id: randomUUID(), ...json }, good, good] } });
    const told = body.results.map((one: { status: number; problem?: { errors?: { pointer: string }[] } }) => [
      one.status,
      one.problem?.errors?.[0]?.pointer,
    ]);
    expect(told).toEqual([
      [status, pointer],
      [201, undefined],
      [422, "/id"],
    ]);
  });

  test("about flows", async () => {
    const flowId = randomUUID();
    const places = { flowId };
    const json = { id: flowId, stages: ["fetch"] };
    for (const status of [201, 200]) expect((await make(named("createFlow"), { json })).status).toBe(status);
    expect((await make(named("createFlow"), { json: { ...json, name: "other" } })).body.code).toBe("id-taken");
    for (const operationId of ["getFlow", "listFlows", "listFlowTasks"])
      expect((await make(named(operationId), { places })).status).toBe(200);
    expect((await make(named("rerunFlow"), { places, json: {} })).body.code).toBe("flow-running");
    expect((await make(named("cancelFlow"), { places })).status).toBe(202);
    const over = { flowId: await failedFlow() };
    expect((await make(named("cancelFlow"), { places: over })).body.code).toBe("flow-over");
    expect((await make(named("rerunFlow"), { places: over, json: { from: "store" } })).body.code).toBe(
      "flow-not-rerunnable",
    );
    expect((await make(named("rerunFlow"), { places: over, json: {} })).status).toBe(202);
    manager.setFlowsKnown(false);
    for (const [operationId, body] of [
      ["createFlow", { stages: ["fetch"] }],
      ["rerunFlow", {}],
    ] as const)
      expect((await make(named(operationId), { places: over, json: body })).body.code).toBe("flows-not-known");
    manager.setFlowsKnown(true);
    for (const operationId of ["listFlows", "listFlowTasks"])
      expect((await make(named(operationId), { places: over, query: "?cursor=x" })).body.code).toBe("invalid-query");
  });

  test("about tasks that are worked outside", async () => {
    for (const [operationId, more] of [
      ["completeTask", { output: 1 }],
      ["failTask", { error: { message: "no" } }],
      ["releaseTask", { inMs: 60_000, reason: "not yet" }],
    ] as const) {
      const sendId = randomUUID();
      const places = { taskId: await takenWith(sendId) };
      const extended = await make(named("extendTask"), { places, json: { sendId, leaseMs: 60_000 } });
      expect(extended.status, extended.text).toBe(200);
      expect((await make(named(operationId), { places, json: { sendId, ...more } })).status).toBe(200);
      const late = { places, json: { ...more, sendId: randomUUID() } };
      expect((await make(named(operationId), late)).body.code).toBe("task-not-held");
      const { body } = await make(named("extendTask"), { places, json: { sendId, leaseMs: 60_000 } });
      expect(body.code).toBe("task-not-held");
    }
    const left = { taskId: await takenWith() };
    expect((await make(named("takeBackTask"), { places: left })).status).toBe(200);
    expect((await make(named("takeBackTask"), { places: left })).body.code).toBe("task-not-taken");
    const sendId = randomUUID();
    const places = { taskId: await takenWith(sendId) };
    expect((await make(named("cancelTask"), { places })).status).toBe(202);
    const { body } = await make(named("extendTask"), { places, json: { sendId, leaseMs: 60_000 } });
    expect(body.code).toBe("task-cancelling");
  });

  test("about the manager itself", async () => {
    for (const operationId of ["isAlive", "isReady", "getMetrics", "getDocument", "getSession", "signIn"])
      expect((await make(named(operationId))).status).toBe(200);
    expect((await make(named("signOut"))).status).toBe(204);
    manager.setReady(false);
    expect((await make(named("isReady"))).status).toBe(503);
  });

  test("with events of each kind", async () => {
    const client = await followEvents(`${manager.url}/api/v1/events`, { "last-event-id": "not a place" });
    const kinds = () => new Set(client.events.map(({ event }) => event));
    await eventually(() => expect(kinds()).toContain("ready"));
    await putService(books.dataSource);
    await putRunning(books.dataSource);
    await books.dataSource.query("NOTIFY unacked_changes");
    await eventually(() => expect([...kinds()].toSorted()).toEqual(["observer", "ready", "resync", "service"]));
  });

  test("to HEAD without a body", async () => {
    const errorId = await report();
    const ref = await putObserver(books.dataSource);
    const { body } = await make(named("createTask"), { json: { type: "resize", params: {} } });
    const timerId = randomUUID();
    await make(named("putTimer"), { places: { timerId } });
    const flowId = await failedFlow();
    const scheduleId = "to-head";
    const json = { everyMs: 3_600_000, task: { type: "resize", params: {} } };
    await make(named("putSchedule"), { places: { scheduleId }, json });
    const workId = randomUUID();
    await make(named("beginWork"), { json: { id: workId, act: "pause", filter: { type: "nobodys" } } });
    const places = {
      pool: "default",
      errorId,
      ref,
      taskId: body.id,
      taskType: "resize",
      timerId,
      scheduleId,
      flowId,
      workId,
    };
    for (const call of calls.filter(({ method }) => method === "GET"))
      expect((await make({ ...call, method: "HEAD" }, { places })).status, call.path).toBe(200);
  });
});

describe("a call that fails is answered as described", () => {
  const json = { "content-type": "application/json" };

  test.each(callsWith("invalid-query"))("$operationId: with a parameter that nobody knows", async (call) => {
    expect((await make(call, { query: "?colour=red" })).body.code).toBe("invalid-query");
  });

  test.each(calls.filter(({ path }) => path.includes("{")))("$operationId: about nothing that is there", async (call) => {
    // Any id may be given to a timer, or a schedule, but for what is none.
    const { status } = await make(call, { places: { timerId: "0", scheduleId: "no%20such", ref: "no%20such" } });
    expect(status).toBe(call.codes.includes("invalid-id") ? 422 : 404);
  });

  test("putObserver: by an id that nothing has, as its name would be made of it", async () => {
    const put = await make(named("putObserver"), { places: { ref: randomUUID() } });
    expect([put.status, put.body.code]).toEqual([404, "observer-not-found"]);
  });

  test.each(callsWithBody)("$operationId: with a body that is none", async (call) => {
    const { bodyLimitBytes = MAX_REQUEST_BODY_BYTES } = (CALLS as Record<string, Call>)[call.operationId] as Call;
    const answerTo = async (options: CallOptions) => (await make(call, { json: undefined, ...options })).body.code;
    expect(await answerTo({ body: "{", headers: json })).toBe("malformed-json");
    expect(await answerTo({ body: "{}", headers: { "content-type": "text/plain" } })).toBe("unsupported-media-type");
    expect(await answerTo({ json: { colour: "red" } })).toBe("invalid-body");
    expect(await answerTo({ body: `"${"x".repeat(bodyLimitBytes)}"`, headers: json })).toBe("body-too-large");
  });

  test("that does not fit the state of things", async () => {
    const ref = await putObserver(books.dataSource, { name: "fresh", status: "Created" });
    const errorId = await report(ref as ObserverId);
    await make(named("createObserver"));
    const service = await putService(books.dataSource, { state: "Gone", ended_at: new Date() });
    const over = await putObserver(books.dataSource, { name: "over", status: "Completed" });
    const atOdds = [
      "name-taken",
      "not-activated",
      "not-restartable",
      "not-pausable",
      "not-paused",
      "service-ended",
    ] as const;
    for (const [code, call] of atOdds.flatMap((one) => callsWith(one).map((each) => [one, each] as const))) {
      const { status, text } = await make(call, { places: { ref: code === "not-pausable" ? over : ref, errorId, service } });
      expect(status, text).toBe(409);
    }
  });

  test("has-run: of what somebody would set while it is saved", async () => {
    const ref = await putRunning(books.dataSource, { name: "saving", type: "saves" });
    expect(callsWith("has-run")).toHaveLength(2);
    for (const call of callsWith("has-run")) expect((await make(call, { places: { ref } })).body.code).toBe("has-run");
  });

  test("retryError: of an observer that the books have lost, and that no create would take", async () => {
    const lost = startMessage({ type: "ticker", params: { everyMs: "often" } });
    const errorId = await report(lost.observerId, { reason: "unknown-observer", body: JSON.stringify(lost) });
    const { status, body } = await make(named("retryError"), { places: { errorId } });
    expect([status, body]).toMatchObject([422, { code: "invalid-body", errors: [{ pointer: "/params/everyMs" }] }]);
  });
});

describe("a caller who is not let in is answered as described", () => {
  const refused: Verdict = { kind: "refused", why: "no such token" };
  const verdicts: [ProblemCode, Verdict, Partial<HttpAccess>][] = [
    ["unauthorized", refused, { failuresPerMinute: 1_000 }],
    ["too-many-requests", refused, { failuresPerMinute: 0 }],
    ["forbidden", { kind: "no-role", name: "somebody", why: "the token gives no role" }, { failuresPerMinute: 1_000 }],
    ["identity-provider-unavailable", { kind: "unavailable" }, {}],
  ];

  test.each(verdicts)("%s", async (code, verdict, access) => {
    const callers = { isConfigured: true, identify: () => Promise.resolve(verdict) };
    const guarded = await startHttpManager(books.databaseUrl, (api) => api, { callers, metricsAccess: "viewer", ...access });
    expect(callsWith(code).length).toBeGreaterThan(10);
    for (const call of callsWith(code)) {
      const { body } = await make(call, { to: guarded, headers: { authorization: "Bearer some" } });
      expect([call.operationId, body.code]).toEqual([call.operationId, code]);
    }
  });

  test("cross-origin, by a page of another origin", async () => {
    for (const call of callsWith("cross-origin")) {
      const { body } = await make(call, { headers: { origin: "https://evil.example" } });
      expect([call.operationId, body.code]).toEqual([call.operationId, "cross-origin"]);
    }
  });

  test("wrong-host, by a page that gave its own host name our address", async () => {
    for (const call of callsWith("wrong-host")) {
      const { method, path } = call;
      const { text } = await sendRaw(manager.url, { method, path: filled(path), headers: { host: "evil.example" } });
      expect([call.operationId, JSON.parse(text).code]).toEqual([call.operationId, "wrong-host"]);
    }
  });
});

describe("a manager in trouble answers as described", () => {
  test("by an error of its own", async () => {
    const callers = { isConfigured: true, identify: () => Promise.reject(new TypeError("broken")) };
    const broken = await startHttpManager(books.databaseUrl, brokenApi);
    const brokenGate = await startHttpManager(books.databaseUrl, (api) => api, { callers });
    for (const call of callsWith("internal-error").filter(needsSomething)) {
      const to = call.path === "/api/v1/session" ? brokenGate : broken;
      const { body } = await make(call, { to, places: { ref: "any" }, headers: { authorization: "Bearer some" } });
      expect([call.operationId, body.code]).toEqual([call.operationId, "internal-error"]);
    }
  });

  test("while the database is away", async () => {
    const wire = await tcpProxy(books.databaseUrl);
    const far = await startHttpManager(wire.through(books.databaseUrl));
    await wire.refuse();
    wire.reset();
    for (const call of callsWith("database-unavailable").filter(({ path }) => path !== "/api/v1/session")) {
      const { body } = await make(call, { to: far, places: { ref: "any" } });
      expect([call.operationId, body.code]).toEqual([call.operationId, "database-unavailable"]);
    }
  });
});

/** Whatever is asked of it, it throws. */
const brokenApi = (api: ManagerApi): ManagerApi => {
  const broken = new Proxy({}, { get: () => () => Promise.reject(new TypeError("broken")) }) as never;
  return {
    ...api,
    lifecycle: broken,
    checkpoints: broken,
    reads: broken,
    errors: broken,
    services: broken,
    balance: broken,
    logs: broken,
    tasks: broken,
    taskTypes: broken,
    taskFailures: broken,
    taskFigures: broken,
    taskTakes: broken,
    flows: broken,
    timers: broken,
    schedules: broken,
    bulkWork: broken,
  };
};

/** Signing out asks nothing of anybody: what every call can meet cannot be shown of it. */
const needsSomething = ({ operationId }: DocumentedCall): boolean => operationId !== "signOut";

test("nothing that the document describes was left out", () => {
  const { seen, unseen } = seenOfDocument();
  expect(unseen).toEqual(["signOut 500", "signOut 503"]);
  expect(seen.length).toBeGreaterThan(200);
});
