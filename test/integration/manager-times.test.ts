import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { putObserver } from "../support/servers/books.ts";

/* Times that PostgreSQL refuses, or that no answer can show: refused where they come in, and shown where older managers wrote them. */

const { books, manager } = useHttpManager({ emptied: "tasks, ended_tasks, observers, schedules, audit" });

const LATE = "9999-12-31T23:59:59-05:00";
const FAR_OFFSET = "2030-01-01T00:00:00+23:59";
const task = (startAt: string) => ({ type: "t", pool: "nobody", startAt });
const observer = (startAt: string) => ({ name: `o-${randomUUID()}`, type: "t", pool: "nobody", startAt });
const schedule = { everyMs: 86_400_000, task: { type: "t" } };
const LISTS = ["tasks", "observers", "observer-columns", "schedules", "timers", "flows", "audit"];

const listsAnswer = async (): Promise<void> => {
  for (const list of LISTS) {
    const { status, text } = await manager.call("GET", `/api/v1/${list}`);
    expect(status, `${list}: ${text}`).toBe(200);
  }
};

test.each([LATE, FAR_OFFSET])("%s is refused wherever it comes in, and nothing is written", async (time) => {
  const bodies: [string, string, object][] = [
    ["POST", "tasks", task(time)],
    ["POST", "observers", observer(time)],
    ["POST", "flows", { name: "f", tasks: { a: task(time) } }],
    ["PUT", `timers/${randomUUID()}`, { name: "t", at: time }],
    ["PUT", "schedules/s", { ...schedule, startAt: time }],
    ["PUT", "schedules/s", { ...schedule, endAt: time }],
    ["POST", "schedules/preview", { ...schedule, startAt: time }],
  ];
  for (const [method, path, json] of bodies) {
    const { status, text } = await manager.call(method, `/api/v1/${path}`, { json });
    expect(status, `${path}: ${text}`).toBe(422);
  }
  for (const query of ["audit?since=", "audit?until=", "task-types/t/figures?since="]) {
    const { status, text } = await manager.call("GET", `/api/v1/${query}${encodeURIComponent(time)}`);
    expect(status, `${query}: ${text}`).toBe(400);
  }
  await listsAnswer();
});

test("Of many in one call the one with such a time is refused, and the others are there", async () => {
  const good = "2999-01-01T00:00:00+02:00";
  const timer = (at: string) => ({ id: randomUUID(), name: "t", at });
  for (const time of [LATE, FAR_OFFSET])
    for (const [path, json] of [
      ["tasks/batch", { tasks: [task(good), task(time)] }],
      ["observers/batch", { observers: [observer(good), observer(time)] }],
      ["timers/batch", { timers: [timer(good), timer(time)] }],
    ] as const) {
      const { body } = await manager.call("POST", `/api/v1/${path}`, { json });
      expect(body.results.map(({ status }: { status: number }) => status)).toEqual([201, 422]);
    }
});

test("A preview ends where times do", async () => {
  const from = encodeURIComponent("9998-12-30T12:00:00Z");
  const { body } = await manager.call("POST", `/api/v1/schedules/preview?n=5&from=${from}`, { json: schedule });
  expect(body.times.map(({ at }: { at: string }) => at)).toEqual(["9998-12-31T00:00:00.000Z"]);
});

test("Rows of older managers with such times are shown, and hold up no list and no stream", async () => {
  const client = await followEvents(`${manager.url}/api/v1/events`);
  await eventually(() => client.events.some(({ event }) => event === "ready"));
  const late = "10000-01-01 04:59:59Z";
  const id = await putObserver(books.dataSource, { status: "Scheduled", start_at: late });
  const after = await putObserver(books.dataSource);
  const { body: made } = await manager.call("POST", "/api/v1/tasks", { json: task("2999-01-01T00:00:00Z") });
  await manager.call("PUT", "/api/v1/schedules/s", { json: schedule });
  await books.dataSource.query("UPDATE tasks SET due_at = $1", [late]);
  await books.dataSource.query(
    `UPDATE schedules SET next_at = $1, due_at = $1, definition = jsonb_set(definition, '{timing,startAt}', '"+010000-01-01T04:59:59.000Z"')`,
    [late],
  );
  await books.dataSource.query("NOTIFY unacked_changes");
  await listsAnswer();
  const last = "9999-12-31T23:59:59.999Z";
  expect((await manager.call("GET", `/api/v1/observers/${id}`)).body.startAt).toBe(last);
  expect((await manager.call("GET", `/api/v1/observers/${after}`)).body.startAt).toBeNull();
  expect((await manager.call("GET", `/api/v1/tasks/${made.id}`)).body.dueAt).toBe(last);
  expect((await manager.call("GET", "/api/v1/schedules/s")).body).toMatchObject({ startAt: last, nextAt: last });
  const told = () => client.events.flatMap(({ event, data }) => (event === "observer" ? [data.id] : []));
  await eventually(() => expect(told()).toEqual(expect.arrayContaining([id, after])));
  expect(client.events.map(({ event }) => event)).not.toContain("resync");
});
