import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { longestOverlapMs } from "../acts/invariants.ts";
import { eventually } from "../eventually.ts";
import type { System } from "../system/system.ts";
import { WalkFaults, type WalkServers } from "./walk-faults.ts";
import { WalkModel } from "./walk-model.ts";
import { describeStep, type WalkAction, type WalkStep } from "./walk-steps.ts";
import { WalkUsers } from "./walk-users.ts";

export interface WalkOptions {
  system: System;
  /** For the steps that kill them. */
  servers?: WalkServers;
  /** Told before each step. */
  onStep?: (what: string) => void;
}

const SERVICES = 3;
const WORKERS = 10;
/** One service may be away for long. */
const MOST_OBSERVERS = (SERVICES - 1) * WORKERS;
const FIRST_OBSERVERS = 8;

/** How long it may take until all is calm: a stop that nobody heard is sent again after 60 s at the latest. */
const SETTLE_MS = 90_000;

/**
 * Does the steps of a walk to a real system, as users and production would, and knows from a model where every observer
 * has to stand when it is over.
 */
export class RandomWalk {
  readonly model = new WalkModel();
  readonly #system: System;
  readonly #users: WalkUsers;
  readonly #faults: WalkFaults;
  readonly #onStep: (what: string) => void;

  constructor({ system, servers, onStep = () => undefined }: WalkOptions) {
    this.#system = system;
    this.#users = new WalkUsers(system, this.model, MOST_OBSERVERS);
    this.#faults = new WalkFaults(system, WORKERS, servers);
    this.#onStep = onStep;
  }

  async begin(): Promise<void> {
    await this.#faults.startAll(SERVICES);
    const manners = ["steady", "slow-to-stop", "recovering"] as const;
    for (let i = 0; i < FIRST_OBSERVERS; i += 1) await this.#users.create(manners[i % 3] ?? "steady");
  }

  async take({ pauseMs, ...action }: WalkStep): Promise<void> {
    await sleep(pauseMs);
    this.#onStep(describeStep(action));
    await this.#act(action);
  }

  /** Everything is healed and started; what was not answered is asked again; then the model and the invariants must hold. */
  async settle(limits: { maxOverlapMs: number; maxLateActs: number }): Promise<void> {
    await this.#faults.healAll();
    await this.#users.untilNoWork(SETTLE_MS);
    await this.#users.askAgain(SETTLE_MS);
    await this.#users.resumeAll(SETTLE_MS);
    await eventually(() => this.#holdsModel(), { timeoutMs: SETTLE_MS, what: "what the model says of every observer" });
    for (const one of this.model.observers) if (one.stopped === "yes") this.#system.mayStartOnceMore(one.id);
    await this.#system.check({ ...limits, timeoutMs: SETTLE_MS });
  }

  /** After `settle`: what the acts since the last time show; then they are forgotten, as a long walk has millions. */
  judge(maxLateActs: number): { observers: number; overlapMs: number } {
    const overlapMs = longestOverlapMs(this.#system.acts(), maxLateActs);
    this.#system.forgetActsBefore(process.hrtime.bigint() - 1_000_000_000n);
    return { observers: this.model.observers.length, overlapMs };
  }

  async #holdsModel(): Promise<void> {
    const all = await this.#system.listObservers();
    const stands = new Map(all.map((one) => [one.id as string, one.status]));
    const behind = all.filter((one) => one.status === "Processing" && one.observedSpecVersion !== one.specVersion);
    expect(
      behind.map(({ name, specVersion, observedSpecVersion: is }) => `${name} runs by ${is} of ${specVersion}`),
    ).toEqual([]);
    const atRest = this.model.atRest();
    const wrong = this.model.observers.flatMap(({ id, name, manner }) => {
      const [should, is] = [atRest.get(id), stands.get(id)];
      return is === should ? [] : [`${name} (${manner}, ${id}) is ${is}, should be ${should}`];
    });
    expect(wrong).toEqual([]);
    expect(stands.size, "observers in the books").toBe(this.model.observers.length);
  }

  #act(step: WalkAction): Promise<void> | void {
    switch (step.kind) {
      case "create":
        return this.#users.create(step.manner);
      case "stop":
        return this.#users.stop(this.model.pick(step.pick), step.force);
      case "restart":
        return this.#users.restart(this.model.pick(step.pick));
      case "pause":
        return this.#users.pause(this.model.pick(step.pick));
      case "resume":
        return this.#users.resume(this.model.pick(step.pick));
      case "change":
        return this.#users.change(this.model.pick(step.pick), step.mark);
      case "work":
        return this.#users.work(step.act, this.model.pick(step.pick));
      case "kill-service":
        return this.#faults.replaceService(step.pick, "SIGKILL");
      case "drain-service":
        return this.#faults.replaceService(step.pick, "SIGTERM");
      case "freeze-service":
        return this.#faults.freezeService(step.pick, step.forMs);
      case "kill-manager":
        return this.#faults.replaceManager(step.downMs);
      case "close-connection":
        return this.#faults.closeConnection(step.pick);
      case "reset-wire":
        return this.#faults.resetWire(step.pick);
      case "cut-wire":
        return this.#faults.cutWire(step.pick);
      case "blackhole":
        return this.#faults.blackhole(step.pick, step.direction, step.forMs);
      case "heal":
        return this.#faults.healWires();
      case "kill-broker":
        return this.#faults.killServer("broker", step.downMs);
      case "kill-database":
        return this.#faults.killServer("database", step.downMs);
      case "part-nodes":
        return this.#faults.withCluster((cluster) => cluster.part(step.pick, step.whom, step.how, step.forMs));
      case "kill-node":
        return this.#faults.withCluster((cluster) => cluster.killNode(step.pick, step.downMs));
      default:
        return step satisfies never;
    }
  }
}
