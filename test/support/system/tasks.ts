import { join } from "node:path";
import type { TaskBatchResults, TaskPage, TaskView } from "@unacked/contracts";
import { expect } from "vitest";
import { eventually } from "../eventually.ts";
import { ROOT } from "../processes/processes.ts";
import { compiled } from "../runs/observers-dir.ts";
import { temporaryFolder } from "../servers/servers.ts";
import { attemptsIn } from "./attempts.ts";
import type { System } from "./system.ts";

/** Task types for tests: `work` and `slow`. */
export const TASKS_DIR = join(ROOT, compiled("tasks"));
/** Those that ask for more than to run: `later`, `second-way`, `gather`, `parent`, `child` and `careless`. */
export const HANDLER_TASKS_DIR = join(ROOT, compiled("handler-tasks"));

/** Tasks of one system, as their users see them, and what they did. */
export class Tasks {
  readonly #system: System;
  /** Where tasks of the type `work` write which of them ran. */
  readonly dir = temporaryFolder("tasks");

  constructor(system: System) {
    this.#system = system;
  }

  async create(params: object = {}, more: object = {}): Promise<TaskView> {
    const { status, body } = await this.#system.call<TaskView>("POST", "/api/v1/tasks", {
      type: "work",
      params: { dir: this.dir, ...params },
      ...more,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  }

  /** Whatever is answered. */
  createAny(request: object): Promise<{ status: number; body: unknown }> {
    return this.#system.call("POST", "/api/v1/tasks", request);
  }

  createMany(count: number, params: object = {}, more: object = {}): Promise<string[]> {
    return this.createMixed(
      Array.from({ length: count }, () => params),
      more,
    );
  }

  /** One for each of these params. */
  async createMixed(params: object[], more: object = {}): Promise<string[]> {
    const tasks = params.map((one) => ({ type: "work", params: { dir: this.dir, ...one }, ...more }));
    const ids: string[] = [];
    for (let i = 0; i < tasks.length; i += 5_000) {
      const { body } = await this.#system.call<TaskBatchResults>("POST", "/api/v1/tasks/batch", {
        tasks: tasks.slice(i, i + 5_000),
      });
      for (const result of body.results) ids.push("task" in result ? result.task.id : JSON.stringify(result));
    }
    return ids;
  }

  async get(id: string, wait?: string): Promise<TaskView> {
    const query = wait === undefined ? "" : `?wait=${wait}`;
    const { status, body } = await this.#system.call<TaskView>("GET", `/api/v1/tasks/${id}${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }

  async list(query = ""): Promise<TaskPage> {
    const { status, body } = await this.#system.call<TaskPage>("GET", `/api/v1/tasks?${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }

  async untilStatus(id: string, status: TaskView["status"]): Promise<TaskView> {
    return await eventually(
      async () => {
        const task = await this.get(id);
        expect(task.status, JSON.stringify(task)).toBe(status);
        return task;
      },
      { what: `task ${status}`, timeoutMs: 30_000 },
    );
  }

  /** Waits until nothing is left that is not over. */
  async untilAllOver(timeoutMs = 60_000): Promise<void> {
    await eventually(
      async () => {
        const left = await this.list("limit=5&status=Blocked,Scheduled,Ready,Sent,Running");
        expect(left.items.map(({ id, status }) => ({ id, status }))).toEqual([]);
      },
      { what: "the end of all tasks", timeoutMs },
    );
  }

  /** All ids with a status. */
  async idsOf(status: TaskView["status"]): Promise<string[]> {
    const ids: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: TaskPage = await this.list(`limit=1000&status=${status}${cursor && `&cursor=${cursor}`}`);
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    return ids;
  }

  /** By task: how often it ran. */
  runs(): Map<string, number> {
    return attemptsIn(this.dir);
  }
}
