import type { CreatedTask, TakenTask, TaskView } from "@unacked/contracts";
import { expect } from "vitest";
import type { Called, CallOptions } from "./rest-client.ts";

export type CallManager = (method: string, path: string, options?: CallOptions) => Promise<Called>;

/** Workers outside, as they speak to one manager. */
export class Takers {
  readonly #call: CallManager;

  constructor(call: CallManager) {
    this.#call = call;
  }

  async create(more: object = {}): Promise<CreatedTask> {
    const { status, body, text } = await this.#call("POST", "/api/v1/tasks", { json: { type: "paint", ...more } });
    expect(status, text).toBeLessThan(300);
    return body;
  }

  async take(more: object = {}, options: CallOptions = {}): Promise<TakenTask[]> {
    const json = { types: ["paint"], ...more };
    const { status, body, text } = await this.#call("POST", "/api/v1/tasks/take", { json, ...options });
    expect(status, text).toBe(200);
    return body.tasks;
  }

  /** There has to be one. */
  async takeOne(more: object = {}): Promise<TakenTask> {
    const [task, ...others] = await this.take(more);
    expect(others).toEqual([]);
    return task ?? expect.fail("there was none to take");
  }

  complete({ id, sendId }: TakenTask, output?: unknown): Promise<Called> {
    return this.#call("POST", `/api/v1/tasks/${id}/complete`, { json: { sendId, output } });
  }

  fail({ id, sendId }: TakenTask, more: object = {}): Promise<Called> {
    const json = { sendId, error: { message: "out of paint" }, ...more };
    return this.#call("POST", `/api/v1/tasks/${id}/fail`, { json });
  }

  extend({ id, sendId }: TakenTask, leaseMs = 60_000): Promise<Called> {
    return this.#call("POST", `/api/v1/tasks/${id}/extend`, { json: { sendId, leaseMs } });
  }

  release({ id, sendId }: TakenTask, more: object = {}): Promise<Called> {
    return this.#call("POST", `/api/v1/tasks/${id}/release`, { json: { sendId, ...more } });
  }

  takeBack({ id }: { id: string }): Promise<Called> {
    return this.#call("POST", `/api/v1/tasks/${id}/take-back`);
  }

  async get(id: string): Promise<TaskView> {
    return (await this.#call("GET", `/api/v1/tasks/${id}`)).body;
  }
}
