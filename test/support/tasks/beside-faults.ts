import { setTimeout as sleep } from "node:timers/promises";
import type { CreateTask, TaskBatchResults, TaskView } from "@unacked/contracts";
import { onTestFinished } from "vitest";
import { queryRows } from "../servers/servers.ts";
import type { System } from "../system/system.ts";

export type Request = Pick<CreateTask, "type" | "params"> & { id: string; priority?: number };

const IN_FLIGHT = "SELECT id FROM tasks WHERE status IN ('Sent', 'Running') ORDER BY sent_at LIMIT 40";

/** What clients do beside the faults, over and over, until they are told to end. */
abstract class Beside {
  protected isEnding = false;
  readonly #everyMs: number;
  #done: Promise<void> = Promise.resolve();

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  protected abstract step(): Promise<void>;

  begin(): this {
    this.#done = this.#work();
    this.#done.catch(() => undefined); // told by end()
    onTestFinished(() => void (this.isEnding = true)); // of a test that fails, too
    return this;
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await this.#done;
  }

  async #work(): Promise<void> {
    while (!this.isEnding) {
      await this.step();
      await sleep(this.#everyMs);
    }
  }
}

/** Creates what is just running once more, with the same ids: some of it ends in that very moment. */
export class CreatesAgain extends Beside {
  readonly outcomes = new Map<string, number>();
  /** How many had been in flight when they were looked for, and were over when they were created again. */
  moved = 0;

  readonly #system: System;
  readonly #databaseUrl: string;
  readonly #requests: ReadonlyMap<string, Request>;

  constructor(system: System, databaseUrl: string, requests: ReadonlyMap<string, Request>) {
    super(30);
    this.#system = system;
    this.#databaseUrl = databaseUrl;
    this.#requests = requests;
  }

  protected async step(): Promise<void> {
    const rows = await queryRows<{ id: string }>(this.#databaseUrl, IN_FLIGHT);
    const tasks = rows.flatMap(({ id }) => this.#requests.get(id) ?? []);
    if (tasks.length > 0) await this.createAgain(tasks);
  }

  async createAgain(tasks: Request[]): Promise<void> {
    const { body } = await this.#system.call<TaskBatchResults>("POST", "/api/v1/tasks/batch", { tasks });
    for (const result of body.results) {
      const outcome = "task" in result ? result.task.outcome : `${result.status} ${result.problem.code}`;
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
      if ("task" in result && result.task.status === "Completed") this.moved += 1;
    }
  }
}

/** Cancels these, one after the other, and keeps how long each answer took. */
export class Cancels extends Beside {
  readonly tookMs: number[] = [];
  readonly cancelled: string[] = [];
  readonly #system: System;
  readonly #left: string[];

  constructor(system: System, ids: readonly string[], everyMs: number) {
    super(everyMs);
    this.#system = system;
    this.#left = [...ids];
  }

  protected async step(): Promise<void> {
    const id = this.#left.shift();
    if (id === undefined) return;
    const beganMs = performance.now();
    const { status, body } = await this.#system.call<TaskView>("DELETE", `/api/v1/tasks/${id}`);
    this.tookMs.push(performance.now() - beganMs);
    if (status !== 202 || body.status !== "Cancelled") throw new Error(`cancel: ${status} ${JSON.stringify(body)}`);
    this.cancelled.push(id);
  }
}

/** The length of a queue, again and again. */
export class QueueLengths extends Beside {
  readonly seen: { atMs: number; total: number }[] = [];
  readonly #system: System;
  readonly #queue: string;

  constructor(system: System, queue: string) {
    super(100);
    this.#system = system;
    this.#queue = queue;
  }

  protected async step(): Promise<void> {
    const { total } = await this.#system.management.queue(this.#queue);
    this.seen.push({ atMs: performance.now(), total });
  }

  /** Between two times of `performance.now()`. */
  between(fromMs: number, toMs: number): number[] {
    return this.seen.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs).map(({ total }) => total);
  }
}
