import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Postgres } from "../../../scripts/servers/postgres.mjs";
import type { Rabbitmq } from "../../../scripts/servers/rabbitmq.mjs";
import type { TcpProxy } from "../broker/tcp-proxy.ts";
import type { Direction } from "../broker/wire.ts";
import type { System } from "../system/system.ts";
import { WalkCluster } from "./walk-cluster.ts";

export interface WalkServers {
  broker: Rabbitmq | WalkCluster;
  database: Postgres;
}

/**
 * What production does to a system in a walk, and Kubernetes for it: whatever dies is started again under its name. What
 * lasts goes on beside the steps that follow, one thing at a time with each part.
 */
export class WalkFaults {
  readonly #system: System;
  readonly #workers: number;
  readonly #servers: WalkServers | undefined;
  readonly #wires = new Map<string, TcpProxy>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];
  readonly #busy = new Set<string>();
  /**
   * A broker that forgets a connection whose client hears nothing of it gives its messages away before the client's
   * deadline: two faults at once, and two runs for up to 1.5 heartbeats. No client can know, so the walk leaves it out.
   */
  #blackholes = 0;
  #managerPort = 0;

  constructor(system: System, workers: number, servers: WalkServers | undefined) {
    this.#system = system;
    this.#workers = workers;
    this.#servers = servers;
  }

  async startAll(services: number): Promise<void> {
    await this.#system.startManager();
    this.#managerPort = Number(new URL(this.#system.url).port);
    for (let i = 1; i <= services; i += 1) {
      this.#wires.set(`service-${i}`, await this.#system.wire(this.#cluster?.amqpUrlFor(i)));
      await this.#startService(`service-${i}`);
    }
    await this.untilAllIsUp();
  }

  /** Waits for what is under way; heals every wire. Rejects if one of the faults went otherwise than it may. */
  async healAll(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    if (this.#failures.length > 0) throw this.#failures[0];
    await this.healWires();
    await this.untilAllIsUp();
  }

  async untilAllIsUp(): Promise<void> {
    await this.#system.untilReady();
    await Promise.all([...this.#wires.keys()].map((name) => this.#system.untilServiceKnown(name)));
  }

  /** And its successor under the same name at once; after SIGTERM when it is gone. */
  replaceService(share: number, signal: "SIGKILL" | "SIGTERM"): void {
    this.#withService(share, async (name) => {
      const service = this.#system.service(name);
      const hasBegun = service.lines.some((line) => line.includes('"event":"listening"'));
      const exit = await service.kill(signal);
      // Before that nobody listens to signals yet. A handler that outlives a lost lease ends its process with 1.
      if (signal === "SIGTERM" && hasBegun) expect([0, 1], `${name} after SIGTERM (${exit?.signal})`).toContain(exit?.code);
      await this.#startService(name);
    });
  }

  /** With its slots, as a host freezes: alone these would go on until their deadline. */
  freezeService(share: number, forMs: number): void {
    this.#withService(share, async (name) => {
      const service = this.#system.service(name);
      const wake = freezeWithChildren(service.pid);
      await sleep(forMs);
      wake();
      await this.#replaceIfGone(name);
    });
  }

  replaceManager(downMs: number): void {
    this.#while("manager", async () => {
      await this.#system.managers.at(-1)?.kill("SIGKILL");
      await sleep(downMs);
      await this.#system.startManager({ port: this.#managerPort, untilReady: false });
    });
  }

  killServer(which: keyof WalkServers, downMs: number): void {
    const server = this.#servers?.[which];
    if (server === undefined || server instanceof WalkCluster)
      throw new Error(`this walk has no ${which} of its own to kill`);
    if (which === "broker" && this.#blackholes > 0) return;
    this.#while(which, async () => {
      await server.kill();
      await sleep(downMs);
      await server.start();
    });
  }

  /** One thing at a time with its nodes; throws where this walk has none. */
  withCluster(work: (cluster: WalkCluster) => Promise<void>): void {
    const cluster = this.#cluster;
    if (cluster === undefined) throw new Error("this walk has no cluster");
    if (this.#blackholes > 0) return;
    this.#while("broker", () => work(cluster));
  }

  /** From the broker's side, any one of the vhost. */
  async closeConnection(share: number): Promise<void> {
    if (this.#busy.has("broker") || this.#blackholes > 0) return;
    const connections = await this.#system.management.connections();
    const one = connections[Math.floor(share * connections.length)];
    // It may be gone by then.
    if (one !== undefined) await this.#system.management.closeConnection(one.name).catch(() => undefined);
  }

  resetWire(share: number): void {
    this.#wires.get(this.#pick(share))?.reset();
  }

  /** Until healWires(). */
  async cutWire(share: number): Promise<void> {
    const wire = this.#wires.get(this.#pick(share));
    await wire?.refuse();
    wire?.reset();
  }

  blackhole(share: number, direction: Direction, forMs: number): void {
    if (this.#cluster !== undefined && this.#busy.has("broker")) return;
    this.#withService(share, async (name) => {
      const wire = this.#wires.get(name);
      this.#blackholes += 1;
      wire?.blackhole(direction);
      await sleep(forMs);
      await wire?.heal();
      this.#blackholes -= 1;
      await this.#replaceIfGone(name);
    });
  }

  async healWires(): Promise<void> {
    await Promise.all([...this.#wires.values()].map((wire) => wire.heal()));
  }

  get #cluster(): WalkCluster | undefined {
    const broker = this.#servers?.broker;
    return broker instanceof WalkCluster ? broker : undefined;
  }

  async #startService(name: string): Promise<void> {
    const wire = this.#wires.get(name) as TcpProxy;
    await this.#system.startService(name, { workers: this.#workers, wire, untilKnown: false });
  }

  /** Fencing may have ended the process. */
  async #replaceIfGone(name: string): Promise<void> {
    if (this.#system.service(name).exit() !== null) await this.#startService(name);
  }

  #pick(share: number): string {
    return [...this.#wires.keys()][Math.floor(share * this.#wires.size)] as string;
  }

  #withService(share: number, work: (name: string) => Promise<void>): void {
    const name = this.#pick(share);
    this.#while(name, () => work(name));
  }

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
}

function freezeWithChildren(pid: number): () => void {
  process.kill(pid, "SIGSTOP"); // it first: then it starts no more of them
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  const all = [pid, ...children];
  for (const child of children) process.kill(child, "SIGSTOP");
  return () => {
    for (const each of all) if (existsSync(`/proc/${each}`)) process.kill(each, "SIGCONT");
  };
}
