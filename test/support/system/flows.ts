import { join } from "node:path";
import type { CreatedFlow, FlowTaskPage, FlowTaskView, FlowView } from "@unacked/contracts";
import { expect } from "vitest";
import { ROOT } from "../processes/processes.ts";
import { compiled } from "../runs/observers-dir.ts";
import { temporaryFolder } from "../servers/servers.ts";
import { attemptsIn } from "./attempts.ts";
import type { System } from "./system.ts";

/** Task types for tests of flows: `piece` and `typed`. */
export const FLOW_TASKS_DIR = join(ROOT, compiled("flow-tasks"));

export interface Piece {
  ref: string;
  after?: string[];
  params?: object;
  [more: string]: unknown;
}

/** Flows of one system, as their users see them, and what their tasks did. */
export class Flows {
  readonly #system: System;
  /** Where tasks of the type `piece` write which of them ran. */
  readonly dir = temporaryFolder("flows");

  constructor(system: System) {
    this.#system = system;
  }

  /** Of the type `piece`, if nothing else is said. */
  async create(pieces: readonly Piece[], more: object = {}): Promise<CreatedFlow> {
    const tasks = pieces.map(({ params, ...piece }) => ({
      type: "piece",
      ...piece,
      params: piece["type"] === undefined ? { dir: this.dir, ...params } : (params ?? {}),
    }));
    const { status, body } = await this.#system.call<CreatedFlow>("POST", "/api/v1/flows", { ...more, tasks });
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  }

  async get(id: string, wait?: string): Promise<FlowView> {
    const query = wait === undefined ? "" : `?wait=${wait}`;
    const { status, body } = await this.#system.call<FlowView>("GET", `/api/v1/flows/${id}${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }

  async list(query = ""): Promise<{ items: FlowView[]; total: number; nextCursor: string | null }> {
    const { status, body } = await this.#system.call<{ items: FlowView[]; total: number; nextCursor: string | null }>(
      "GET",
      `/api/v1/flows?${query}`,
    );
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }

  /** All its tasks, by ref. @param outputs with their results */
  async tasks(id: string, outputs = false): Promise<Record<string, FlowTaskView>> {
    const items: FlowTaskView[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = `limit=1000&outputs=${outputs}${cursor && `&cursor=${cursor}`}`;
      const { status, body } = await this.#system.call<FlowTaskPage>("GET", `/api/v1/flows/${id}/tasks?${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      items.push(...body.items);
      cursor = body.nextCursor;
    }
    return Object.fromEntries(items.map((item) => [item.ref, item]));
  }

  async statuses(id: string): Promise<Record<string, string>> {
    return Object.fromEntries(Object.entries(await this.tasks(id)).map(([ref, { status }]) => [ref, status]));
  }

  /** The flow, or why not. */
  call(path: string, body: object = {}): Promise<{ status: number; body: FlowView & { code?: string; detail?: string } }> {
    return this.#system.call<FlowView>("POST", `/api/v1/flows${path}`, body);
  }

  /** By task: how often it ran. */
  runs(): Map<string, number> {
    return attemptsIn(this.dir);
  }
}
