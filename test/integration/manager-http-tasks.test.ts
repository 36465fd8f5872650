import { randomUUID } from "node:crypto";
import type { TaskView } from "@unacked/contracts";
import { beforeEach, describe, expect, test } from "vitest";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { insert, putService } from "../support/servers/books.ts";

const { books, manager } = useHttpManager({ emptied: "services, tasks, ended_tasks, task_services" });

const IN_FLIGHT = { send_id: randomUUID(), sent_at: new Date(), run_id: randomUUID() };

/** A row of `tasks`; with a status of tasks that are over, of `ended_tasks`. */
async function put(columns: Record<string, unknown>): Promise<string> {
  const id = randomUUID();
  const common = { id, type: "resize", params: {}, pool: "default", priority: 0, due_at: new Date() };
  const isOver = columns["status"] === "Failed" || columns["status"] === "Completed";
  const over = { failures: 1, interruptions: 0, crashes: 0, sends: 1, created_at: new Date(), ended_at: new Date() };
  await insert(books.dataSource, isOver ? "ended_tasks" : "tasks", { ...common, ...(isOver && over), ...columns });
  return id;
}

const putRunning = (service: string, more: object = {}) =>
  put({ status: "Running", ...IN_FLIGHT, service_id: service, service_name: "told-then", ...more });

const ask = (query: string) => manager.call("GET", `/api/v1/tasks?${query}`);

async function listed(query: string): Promise<string[]> {
  const { status, body, text } = await ask(query);
  expect(status, text).toBe(200);
  const { items, total, isTotalExact } = body as { items: TaskView[]; total: number; isTotalExact: boolean };
  expect([total, isTotalExact]).toEqual([items.length, true]);
  return items.map(({ id }) => id).toSorted();
}

describe("the tasks of a service", () => {
  let busy: string;
  let runs: string[];
  let other: string;

  beforeEach(async () => {
    busy = await putService(books.dataSource, { name: "busy" });
    const quiet = await putService(books.dataSource, { name: "quiet" });
    runs = [await putRunning(busy), await putRunning(busy, { type: "mail", pool: "prices" })].toSorted();
    other = await putRunning(quiet);
    // These were there, and are on no service now; and one that somebody has taken is on none.
    await put({ status: "Scheduled", service_id: busy });
    await put({ status: "Ready", service_id: busy });
    await put({ status: "Sent", ...IN_FLIGHT, run_id: null, service_id: busy });
    await put({ status: "Running", ...IN_FLIGHT, lease_until: new Date(Date.now() + 60_000), taken_by: "anna" });
    await put({ status: "Failed", service_id: busy, service_name: "busy" });
  });

  test("are those that run there now, by its name or its id", async () => {
    expect(await listed("service=busy")).toEqual(runs);
    expect(await listed(`service=${busy}`)).toEqual(runs);
    expect(await listed(`service=${busy.toUpperCase()}`)).toEqual(runs);
    expect(await listed("service=quiet")).toEqual([other]);
    expect(await listed("service=nobody")).toEqual([]);
    expect(await listed(`service=${randomUUID()}`)).toEqual([]);
  });

  test("are those of each of its boots, by its name", async () => {
    const before = await putService(books.dataSource, { name: "busy", state: "Gone", ended_at: new Date() });
    const left = await putRunning(before);
    expect(await listed("service=busy")).toEqual([...runs, left].toSorted());
    expect(await listed(`service=${before}`)).toEqual([left]);
  });

  test("are narrowed by all other filters, too", async () => {
    const [mail] = await listed("service=busy&type=mail");
    expect(runs).toContain(mail);
    expect(await listed("service=busy&pool=prices")).toEqual([mail]);
    expect(await listed(`service=busy&q=${mail?.slice(0, 13)}`)).toEqual([mail]);
    expect(await listed("service=busy&pool=nowhere")).toEqual([]);
  });

  test("come page by page", async () => {
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await ask(`service=busy&limit=1${cursor}`);
      expect(body.total).toBe(2);
      seen.push(...body.items.map(({ id }: TaskView) => id));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen.toSorted()).toEqual(runs);
  });

  test("are none of those that wait or were sent, which are on no service yet", async () => {
    expect(await listed("service=busy&status=Running,Sent,Ready")).toEqual(runs);
    for (const status of ["Sent", "Ready", "Blocked,Scheduled"])
      expect(await listed(`service=busy&status=${status}`), status).toEqual([]);
  });

  test.each(["Failed", "Completed", "Cancelled", "Running,Failed"])(
    "that are over are refused, rather than said to be none: %s",
    async (status) => {
      const { body } = await ask(`service=busy&status=${status}`);
      expect(body).toMatchObject({
        status: 400,
        code: "invalid-query",
        remedy: expect.stringContaining("Leave out `service`"),
        errors: [{ parameter: "status" }],
      });
    },
  );
});
