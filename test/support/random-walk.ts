import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Postgres } from "../../scripts/servers/postgres.mjs";
import type { Rabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { eventually } from "./eventually.ts";
import { longestOverlapMs } from "./invariants.ts";
import type { Answer, ObserverOrProblem, System } from "./system.ts";
import type { TcpProxy } from "./tcp-proxy.ts";
import { behaviour, WalkModel, type WalkObserver } from "./walk-model.ts";
import { describeStep, type WalkAction, type WalkStep } from "./walk-steps.ts";

export interface WalkOptions {
  system: System;
  /** Default 3, of `workers` each. */
  services?: number;
  /** Default 10. */
  workers?: number;
  /** For the steps that kill them. */
  servers?: { broker: Rabbitmq; database: Postgres };
  /** Told before each step. */
  onStep?: (what: string) => void;
}

/** How long it may take until all is calm: a stop that nobody heard is sent again after 60 s at the latest. */
const SETTLE_MS = 90_000;

/**
 * Does the steps of a walk to a real system, as users and production would, and knows from a model where every observer
 * has to stand when it is over. Faults that last heal beside the steps that follow.
 */
export class RandomWalk {
  readonly model = new WalkModel();
  readonly #options: Required<Omit<WalkOptions, "servers">> & Pick<WalkOptions, "servers">;
  readonly #system: System;
  readonly #wires = new Map<string, TcpProxy>();
  /** What is being healed, started again or waited for beside the steps. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];
  /** Not to be touched before what is under way with them is over: services, the manager, the servers. */
  readonly #busy = new Set<string>();
  /**
   * A broker that forgets a connection whose client hears nothing of it gives its messages away before the client's
   * deadline: two faults at once, and two runs for up to 1.5 heartbeats. No client can know, so the walk leaves it out.
   */
  #blackholes = 0;
  #managerPort = 0;

  constructor(options: WalkOptions) {
    this.#options = { services: 3, workers: 10, onStep: () => undefined, ...options };
    this.#system = options.system;
  }

  async begin(): Promise<void> {
    await this.#system.startManager();
    this.#managerPort = Number(new URL(this.#system.url).port);
    for (let i = 1; i <= this.#options.services; i += 1) {
      const name = `service-${i}`;
      this.#wires.set(name, await this.#system.wire());
      await this.#startService(name);
    }
    await this.#eachService((name) => this.#system.untilServiceKnown(name));
    const { services, workers } = this.#options;
    const manners = ["steady", "slow-to-stop", "recovering"] as const;
    for (let i = 0; i < (services - 1) * workers * 0.4; i += 1) await this.#create(manners[i % 3] ?? "steady");
  }

  async take(step: WalkStep): Promise<void> {
    const { pauseMs, ...action } = step;
    await sleep(pauseMs);
    this.#options.onStep(describeStep(action));
    await this.#act(action);
  }

  /** Everything is healed and started; what was not answered is asked again; then the model and the invariants must hold. */
  async settle(limits: { maxOverlapMs: number; maxLateActs: number }): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    if (this.#failures.length > 0) throw this.#failures[0];
    await this.#healWires();
    await this.#system.untilReady();
    await this.#eachService((name) => this.#system.untilServiceKnown(name));
    await Promise.all(this.model.unanswered.map((one) => this.#askAgain(one)));
    await eventually(
      async () => {
        const stands = new Map((await this.#system.listObservers()).map((one) => [one.id as string, one.status]));
        const wrong = this.model.observers.flatMap((one) => {
          const [should, is] = [this.model.atRest().get(one.id), stands.get(one.id)];
          return is === should ? [] : [`${one.name} (${one.manner}, ${one.id}) is ${is}, should be ${should}`];
        });
        expect(wrong).toEqual([]);
        expect(stands.size, "observers in the books").toBe(this.model.observers.length);
      },
      { timeoutMs: SETTLE_MS, what: "what the model says of every observer" },
    );
    for (const one of this.model.observers) if (one.stopped === "yes") this.#system.mayStartOnceMore(one.id);
    await this.#system.check({ ...limits, timeoutMs: SETTLE_MS });
  }

  /** After `settle`: what the acts since the last time show; then they are forgotten, as a long walk has millions. */
  judge(maxLateActs: number): { observers: number; overlapMs: number } {
    const overlapMs = longestOverlapMs(this.#system.acts(), maxLateActs);
    this.#system.forgetActsBefore(process.hrtime.bigint() - 1_000_000_000n);
    return { observers: this.model.observers.length, overlapMs };
  }

  async #act(step: WalkAction): Promise<void> {
    switch (step.kind) {
      case "create":
        return this.#create(step.manner);
      case "stop":
        return this.#stop(this.model.pick(step.pick), step.force);
      case "restart":
        return this.#restart(this.model.pick(step.pick));
      case "kill-service":
        return this.#withService(step.pick, (name) => this.#replaceService(name, "SIGKILL"));
      case "drain-service":
        return this.#withService(step.pick, (name) => this.#replaceService(name, "SIGTERM"));
      case "freeze-service":
        return this.#withService(step.pick, (name) => this.#freeze(name, step.forMs));
      case "kill-manager":
        return this.#while("manager", () => this.#replaceManager(step.downMs));
      case "close-connection":
        return this.#closeConnection(step.pick);
      case "reset-wire":
        return this.#wire(step.pick)?.reset();
      case "cut-wire":
        return this.#cut(this.#wire(step.pick));
      case "blackhole":
        return this.#withService(step.pick, (name) => this.#blackhole(name, step.direction, step.forMs));
      case "heal":
        return this.#healWires();
      case "kill-broker":
      case "kill-database":
        return this.#killServer(step.kind === "kill-broker" ? "broker" : "database", step.downMs);
      default:
        return step satisfies never;
    }
  }

  // What users do

  async #create(manner: WalkObserver["manner"]): Promise<void> {
    const { services, workers } = this.#options;
    if (this.model.wanted.length >= (services - 1) * workers) return; // one service may be away for long
    const one: WalkObserver = {
      id: randomUUID(),
      name: `${manner}-${this.model.observers.length}`,
      manner,
      created: "asked",
      stopped: "no",
    };
    this.model.observers.push(one);
    await this.#askToCreate(one);
  }

  async #askToCreate(one: WalkObserver): Promise<void> {
    const { params, ...more } = behaviour(one.manner);
    const answer = await this.#ask(() => this.#system.create(one.name, params, { ...more, id: one.id, whenFull: "queue" }));
    if (answer === undefined) return;
    expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
    one.created = "yes";
  }

  async #stop(one: WalkObserver | undefined, force: boolean): Promise<void> {
    if (one === undefined) return;
    one.stopped = "asked";
    await this.#askToStop(one, force);
  }

  async #askToStop(one: WalkObserver, force = false): Promise<void> {
    const path = `/api/v1/observers/${one.id}${force ? "?force=true" : ""}`;
    const answer = await this.#ask(() => this.#system.call<ObserverOrProblem>("DELETE", path));
    if (answer === undefined) return;
    if (answer.status === 409 && answer.body.code === "not-activated") {
      // Sure to be refused only if this very request was the first.
      one.stopped = "no";
      return;
    }
    if (answer.status === 409) expect(["already-deleting", "already-deleted"]).toContain(answer.body.code);
    else expect([200, 202], JSON.stringify(answer.body)).toContain(answer.status);
    one.stopped = "yes";
  }

  async #restart(one: WalkObserver | undefined): Promise<void> {
    if (one === undefined) return;
    const answer = await this.#ask(() => this.#system.call("POST", `/api/v1/observers/${one.id}/restart`));
    if (answer !== undefined) expect([202, 409], JSON.stringify(answer.body)).toContain(answer.status);
  }

  /** Undefined: nobody answered, or nobody could just then. Any other refusal is for the caller to judge. */
  async #ask<T>(call: () => Promise<Answer<T>>): Promise<Answer<T> | undefined> {
    let answer: Answer<T>;
    try {
      answer = await call();
    } catch {
      return undefined; // the manager is away, or died over it
    }
    return answer.status === 503 ? undefined : answer;
  }

  async #askAgain(one: WalkObserver): Promise<void> {
    await eventually(
      async () => {
        if (one.created === "asked") await this.#askToCreate(one);
        if (one.created === "yes" && one.stopped === "asked") await this.#askToStop(one);
        expect([one.created, one.stopped]).not.toContain("asked");
      },
      { timeoutMs: SETTLE_MS, what: `an answer about ${one.name}` },
    );
  }

  // What production does

  async #startService(name: string): Promise<void> {
    const { workers } = this.#options;
    const wire = this.#wires.get(name) as TcpProxy;
    await this.#system.startService(name, { workers, wire, untilKnown: false });
  }

  async #replaceService(name: string, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const service = this.#system.service(name);
    const hasBegun = service.lines.some((line) => line.includes('"event":"listening"'));
    const exit = await service.kill(signal);
    // Before that nobody listens to signals yet. A handler that outlives a lost lease ends its process with 1.
    if (signal === "SIGTERM" && hasBegun) expect([0, 1], `${name} after SIGTERM (${exit?.signal})`).toContain(exit?.code);
    await this.#startService(name);
  }

  async #freeze(name: string, forMs: number): Promise<void> {
    const service = this.#system.service(name);
    await service.kill("SIGSTOP");
    await sleep(forMs);
    await service.kill("SIGCONT");
    await this.#replaceIfGone(name);
  }

  async #blackhole(name: string, direction: "to-server" | "to-client" | "both", forMs: number): Promise<void> {
    const wire = this.#wires.get(name) as TcpProxy;
    this.#blackholes += 1;
    wire.blackhole(direction);
    await sleep(forMs);
    await wire.heal();
    this.#blackholes -= 1;
    await this.#replaceIfGone(name);
  }

  /** Fencing may have ended the process; Kubernetes would start another. */
  async #replaceIfGone(name: string): Promise<void> {
    if (this.#system.service(name).exit() !== null) await this.#startService(name);
  }

  async #replaceManager(downMs: number): Promise<void> {
    await this.#system.managers.at(-1)?.kill("SIGKILL");
    await sleep(downMs);
    await this.#system.startManager({ port: this.#managerPort, untilReady: false });
  }

  async #closeConnection(share: number): Promise<void> {
    if (this.#busy.has("broker") || this.#blackholes > 0) return;
    const connections = await this.#system.management.connections();
    const one = connections[Math.floor(share * connections.length)];
    // It may be gone by then.
    if (one !== undefined) await this.#system.management.closeConnection(one.name).catch(() => undefined);
  }

  async #cut(wire: TcpProxy | undefined): Promise<void> {
    await wire?.refuse();
    wire?.reset();
  }

  #killServer(which: "broker" | "database", downMs: number): void {
    const server = this.#options.servers?.[which];
    if (which === "broker" && this.#blackholes > 0) return;
    if (server === undefined) throw new Error(`this walk has no ${which} of its own to kill`);
    return this.#while(which, async () => {
      await server.kill();
      await sleep(downMs);
      await server.start();
    });
  }

  #wire(share: number): TcpProxy | undefined {
    return [...this.#wires.values()][Math.floor(share * this.#wires.size)];
  }

  #withService(share: number, work: (name: string) => Promise<void>): void {
    const name = [...this.#wires.keys()][Math.floor(share * this.#wires.size)] as string;
    this.#while(name, () => work(name));
  }

  /** Beside the steps that follow; only one thing at a time with each. A failure of it is told by `settle`. */
  #while(whom: string, work: () => Promise<void>): void {
    if (this.#busy.has(whom)) return;
    this.#busy.add(whom);
    const done = work()
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => {
        this.#busy.delete(whom);
        this.#underWay.delete(done);
      });
    this.#underWay.add(done);
  }

  async #healWires(): Promise<void> {
    await Promise.all([...this.#wires.values()].map((wire) => wire.heal()));
  }

  async #eachService(work: (name: string) => Promise<void>): Promise<void> {
    await Promise.all([...this.#wires.keys()].map(work));
  }
}
