import { randomUUID } from "node:crypto";
import type { ProblemDetails, PutTimerAnswer, TimerBatchResults, TimerPage, TimerView } from "@unacked/contracts";
import { expect } from "vitest";
import type { TimerListener } from "../broker/timer-listener.ts";
import { eventually } from "../eventually.ts";
import { queryRows } from "../servers/servers.ts";
import type { System } from "../system/system.ts";

const BATCH = 10_000;

export interface EndedTimer {
  id: string;
  status: string;
  last_problem: string | null;
}

/** What tests ask of timers. */
export class Timers {
  readonly #system: System;

  constructor(system: System) {
    this.#system = system;
  }

  put(id: string, body: object) {
    const all = { name: "t.one", payload: null, ...body };
    return this.#system.call<PutTimerAnswer & ProblemDetails>("PUT", `/api/v1/timers/${id}`, all);
  }

  async get(id: string): Promise<TimerView> {
    return (await this.#system.call<TimerView>("GET", `/api/v1/timers/${id}`)).body;
  }

  cancel(id: string) {
    return this.#system.call<Omit<TimerView, "status"> & ProblemDetails>("DELETE", `/api/v1/timers/${id}`);
  }

  /** Each at its own time, in batches. @returns how many a second */
  async putAll(ids: readonly string[], atMs: (i: number) => number): Promise<number> {
    const before = performance.now();
    for (let first = 0; first < ids.length; first += BATCH) {
      const timers = ids.slice(first, first + BATCH).map((id, i) => ({
        id,
        at: new Date(atMs(first + i)).toISOString(),
        name: `t.${i % 10}`,
        payload: { i: first + i },
      }));
      const { status, body } = await this.#system.call<TimerBatchResults>("POST", "/api/v1/timers/batch", { timers });
      expect([status, body.results.filter((one) => one.status !== 201)]).toEqual([200, []]);
    }
    return ids.length / ((performance.now() - before) / 1_000);
  }

  untilHeard(listener: TimerListener, ids: readonly string[], timeoutMs = 40_000): Promise<void> {
    const isHeard = () => listener.count >= ids.length && ids.every((id) => listener.ids.has(id));
    return eventually(() => expect([listener.count, isHeard()]).toEqual([expect.any(Number), true]), {
      timeoutMs,
      what: "all timers being heard",
    });
  }

  untilNoneIsLeft(timeoutMs = 60_000): Promise<void> {
    return eventually(
      async () => {
        const { body } = await this.#system.call<TimerPage>("GET", "/api/v1/timers?status=Waiting,Firing&limit=1");
        expect(body.total).toBe(0);
      },
      { timeoutMs, what: "that no timer is left" },
    );
  }

  ended(): Promise<EndedTimer[]> {
    return queryRows(this.#system.env.DATABASE_URL as string, "SELECT id, status, last_problem FROM ended_timers");
  }

  /** A hundred at a time. */
  async cancelEach(ids: readonly string[]): Promise<{ id: string; outcome: string }[]> {
    const [left, told] = [[...ids], [] as { id: string; outcome: string }[]];
    const worker = async () => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        const { status, body } = await this.cancel(id);
        told.push({ id, outcome: status === 200 ? "cancelled" : body.code });
      }
    };
    await Promise.all(Array.from({ length: 100 }, worker));
    return told;
  }
}

export const newIds = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

/** `p50 4 ms, p99 12 ms, …` of these. */
export function sayPercentiles(all: readonly number[]): string {
  const sorted = all.toSorted((one, other) => one - other);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, p99.9 ${at(0.999)} ms, all within ${at(1)} ms`;
}
