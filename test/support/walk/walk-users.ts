import { randomUUID } from "node:crypto";
import type { WorkAct, WorkPage } from "@unacked/contracts";
import { expect } from "vitest";
import { eventually } from "../eventually.ts";
import { change, marked } from "../system/changes.ts";
import type { Answer, ObserverOrProblem, System } from "../system/system.ts";
import { behaviour, type WalkModel, type WalkObserver } from "./walk-model.ts";
import type { Manner } from "./walk-steps.ts";

/** What users do in a walk, and what they were answered: the model learns from the answers alone. */
export class WalkUsers {
  readonly #system: System;
  readonly #model: WalkModel;
  /** No more wanted at once than this. */
  readonly #most: number;
  /** What stops by work were about: of those that it met, or may have met, each is asked about by itself when it is over. */
  readonly #stoppedBy: string[] = [];

  constructor(system: System, model: WalkModel, most: number) {
    this.#system = system;
    this.#model = model;
    this.#most = most;
  }

  async create(manner: Manner): Promise<void> {
    const { observers, wanted } = this.#model;
    if (wanted.length >= this.#most) return;
    const name = `${manner}-${observers.length}`;
    const one: WalkObserver = { id: randomUUID(), name, manner, created: "asked", stopped: "no" };
    observers.push(one);
    await this.#askToCreate(one);
  }

  async stop(one: WalkObserver | undefined, force: boolean): Promise<void> {
    if (one === undefined) return;
    one.stopped = "asked";
    await this.#askToStop(one, force);
  }

  async restart(one: WalkObserver | undefined): Promise<void> {
    if (one === undefined) return;
    const answer = await ask(() => this.#system.call("POST", `/api/v1/observers/${one.id}/restart`));
    if (answer !== undefined) expect([202, 409], JSON.stringify(answer.body)).toContain(answer.status);
  }

  async pause(one: WalkObserver | undefined): Promise<void> {
    if (one === undefined) return;
    const answer = await ask(() => this.#system.call("POST", `/api/v1/observers/${one.id}/pause`));
    if (answer !== undefined) expect([200, 202, 409], JSON.stringify(answer.body)).toContain(answer.status);
  }

  async resume(one: WalkObserver | undefined): Promise<void> {
    if (one === undefined) return;
    const answer = await ask(() => this.#system.call("POST", `/api/v1/observers/${one.id}/resume?whenFull=queue`));
    if (answer !== undefined) expect([202, 409], JSON.stringify(answer.body)).toContain(answer.status);
  }

  async change(one: WalkObserver | undefined, mark: number): Promise<void> {
    if (one === undefined) return;
    const { params } = behaviour(one.manner);
    const body =
      mark % 4 === 0 ? { labels: { mark: String(mark) } } : { params: marked(this.#system, String(mark), params) };
    const answer = await ask(() => change(this.#system, one.id, body));
    if (answer !== undefined) expect([200, 202, 409], JSON.stringify(answer.body)).toContain(answer.status);
  }

  async work(act: WorkAct, one: WalkObserver | undefined): Promise<void> {
    if (one === undefined) return;
    const q = act === "stop" ? one.name : one.manner;
    if (act === "stop") this.#stoppedBy.push(q);
    this.#doubtStopped();
    const body = { id: randomUUID(), act, filter: { q }, whenFull: "queue" };
    const answer = await ask(() => this.#system.call("POST", "/api/v1/work", body));
    if (answer !== undefined) expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  }

  /** All that was begun has ended. Since then nothing is stopped, paused or restarted by it. */
  async untilNoWork(timeoutMs: number): Promise<void> {
    await eventually(
      async () => {
        const answer = await ask(() => this.#system.call<WorkPage>("GET", "/api/v1/work?status=Running"));
        expect(answer?.body.items.map(({ act, filter, remaining }) => ({ act, filter, remaining }))).toEqual([]);
      },
      { timeoutMs, what: "that all work is over" },
    );
    this.#doubtStopped();
    this.#stoppedBy.length = 0;
  }

  #doubtStopped(): void {
    for (const one of this.#model.observers)
      if (one.stopped === "no" && this.#stoppedBy.some((q) => one.name.includes(q))) one.stopped = "asked";
  }

  /** Whatever is paused, or is being paused, goes on: then each stands where it would without. */
  async resumeAll(timeoutMs: number): Promise<void> {
    await eventually(
      async () => {
        const all = await this.#system.listObservers();
        const resting = all.filter(({ status, pending }) => status === "Paused" || pending !== null);
        for (const { id } of resting)
          await ask(() => this.#system.call("POST", `/api/v1/observers/${id}/resume?whenFull=queue`));
        expect(resting.map(({ name }) => name)).toEqual([]);
      },
      { timeoutMs, what: "that nothing is paused" },
    );
  }

  /** Everything that was not answered is asked again until it is. */
  async askAgain(timeoutMs: number): Promise<void> {
    const untilAnswered = (one: WalkObserver) =>
      eventually(
        async () => {
          if (one.created === "asked") await this.#askToCreate(one);
          if (one.created === "yes" && one.stopped === "asked") await this.#askToStop(one);
          expect([one.created, one.stopped]).not.toContain("asked");
        },
        { timeoutMs, what: `an answer about ${one.name}` },
      );
    await Promise.all(this.#model.unanswered.map(untilAnswered));
  }

  async #askToCreate(one: WalkObserver): Promise<void> {
    const { params, ...more } = behaviour(one.manner);
    const answer = await ask(() => this.#system.create(one.name, params, { ...more, id: one.id, whenFull: "queue" }));
    if (answer === undefined) return;
    expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
    one.created = "yes";
  }

  async #askToStop(one: WalkObserver, force = false): Promise<void> {
    const path = `/api/v1/observers/${one.id}${force ? "?force=true" : ""}`;
    const answer = await ask(() => this.#system.call<ObserverOrProblem>("DELETE", path));
    if (answer === undefined) return;
    const { status, body } = answer;
    if (status === 409) expect(["not-activated", "already-deleting", "already-deleted"]).toContain(body.code);
    else expect([200, 202], JSON.stringify(body)).toContain(status);
    one.stopped = body.code === "not-activated" ? "no" : "yes";
  }
}

/** Undefined: nobody answered, or nobody could just then. Any other refusal is for the caller to judge. */
async function ask<T>(call: () => Promise<Answer<T>>): Promise<Answer<T> | undefined> {
  let answer: Answer<T>;
  try {
    answer = await call();
  } catch {
    return undefined; // the manager is away, or died over it
  }
  return answer.status === 503 ? undefined : answer;
}
