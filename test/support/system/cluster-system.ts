import { expect } from "vitest";
import type { Cluster, NodeName } from "../../../scripts/servers/cluster/cluster.mjs";
import { gapsMs } from "../acts/gaps.ts";
import { longestOverlapMs } from "../acts/invariants.ts";
import type { Management } from "../broker/management.ts";
import { eventually } from "../eventually.ts";
import { type Bystander, startBystander } from "../processes/bystander.ts";
import { freshDatabase, freshVhostOf } from "../servers/servers.ts";
import { System } from "./system.ts";

const HEARTBEAT_S = 4;
/** Handlers stop at once; one that does not is ended with its slot after this. */
const STOP_MS = 0.4 * HEARTBEAT_S * 1_000;
const SERVICES = ["one", "two", "three"];
const WORK_QUEUE = "unacked.work.default";
/** What was written before it is of no interest any more. */
const KEPT_NS = 2_000_000_000n;

export interface Blow {
  /** Of each change of runs: how long the observer did not act. */
  readonly gapsMs: number[];
  /** From the blow (of two nodes: from when they were started again) until the last of them ran. */
  readonly allAgainMs: number;
  /** From the loss of each service's session to its next one. */
  readonly reconnectsMs: number[];
  readonly overlapMs: number;
  readonly boundMs: number;
  /** What a bare process missed meanwhile. */
  readonly missedMs: number;
}

/** A manager and three services with slots on a cluster of three, each program told of every node; its observers, and what hits it. */
export class ClusterSystem {
  readonly cluster: Cluster;
  readonly nodes: NodeName[] = ["a", "b", "c"];
  readonly system: System;
  readonly #vhost: string;
  readonly #management: Management;
  readonly #bystander: Bystander;
  #ids: string[] = [];
  #struckNs = 0n;
  #struckMs = 0;
  #mendedNs = 0n;

  private constructor(cluster: Cluster, vhost: string, management: Management, system: System, bystander: Bystander) {
    this.cluster = cluster;
    this.#vhost = vhost;
    this.#management = management;
    this.system = system;
    this.#bystander = bystander;
  }

  static async start(cluster: Cluster, observers: number): Promise<ClusterSystem> {
    const { vhost, management } = await freshVhostOf(cluster);
    const amqpUrl = (["a", "b", "c"] as const).map((node) => `${cluster.amqpUrl(node)}/${vhost}`).join(",");
    const { databaseUrl } = await freshDatabase();
    const env = { WORK_QUEUE_TYPE: "quorum", SLOTS: "2" };
    const system = new System({ amqpUrl, databaseUrl, management, heartbeatS: HEARTBEAT_S, env });
    const at = new ClusterSystem(cluster, vhost, management, system, await startBystander());
    await system.startManager();
    for (const name of SERVICES) await system.startService(name, { workers: observers });
    at.#ids = await system.createCrowd("observer", observers);
    return at;
  }

  async close(): Promise<void> {
    await this.system.close();
    await this.#bystander.end();
  }

  /** A node that a service has its messages from. */
  async nodeOfAService(): Promise<NodeName> {
    const named = SERVICES.map((name) => `${name} consume`);
    return eventually(async () => {
      const all = (await this.#management.call("GET", "/vhosts/{vhost}/connections")) as {
        node: string;
        client_properties?: { connection_name?: string };
      }[];
      const found = all.find(({ client_properties: { connection_name: name = "" } = {} }) =>
        named.some((each) => name.startsWith(each)),
      );
      if (found === undefined) throw new Error("no service is connected anywhere");
      return this.cluster.nodeAt(found.node);
    });
  }

  leader(): Promise<NodeName> {
    return this.cluster.leaderOf("c", WORK_QUEUE, this.#vhost);
  }

  async leadAllFrom(node: NodeName): Promise<void> {
    for (const queue of [WORK_QUEUE, "unacked.state"]) await this.cluster.lead(queue, node, this.#vhost);
  }

  /** From now on it is measured. */
  strikes(): void {
    this.#struckNs = process.hrtime.bigint();
    this.#struckMs = Date.now();
    this.#mendedNs = this.#struckNs;
    this.system.forgetActsBefore(this.#struckNs - KEPT_NS);
  }

  /** What is away now begins to come back. */
  mends(): void {
    this.#mendedNs = process.hrtime.bigint();
  }

  async untilAllRunAgain(): Promise<void> {
    await eventually(
      () => {
        expect(this.#losses().filter(({ upAtMs }) => upAtMs === undefined)).toEqual([]);
        expect(this.#losses()).not.toEqual([]);
        const acting = new Set([...this.system.actingByPid(500).values()].flatMap((ids) => [...ids]));
        expect(this.#ids.filter((id) => !acting.has(id))).toEqual([]);
      },
      // RabbitMQ 4.3 keeps what a node's consumers hold for a minute after that node has gone.
      { timeoutMs: 90_000, what: "all observers at work again" },
    );
  }

  /** Holds the invariants, but for the overlap, and tells what it was like. */
  async judge(): Promise<Blow> {
    await this.system.check({ maxOverlapMs: 3_600_000, timeoutMs: 90_000 });
    const acts = this.system.acts();
    expect(new Set(acts.map((act) => act.observerId))).toEqual(new Set(this.#ids));
    const seen = new Set<string>();
    const before = new Set(acts.filter((act) => act.monotonicNs < this.#struckNs).map((act) => act.runId));
    const begun = acts.filter(({ runId }) => !before.has(runId) && !seen.has(runId) && seen.add(runId));
    const lastNs = begun.reduce((last, { monotonicNs }) => (monotonicNs > last ? monotonicNs : last), this.#mendedNs);
    const nowNs = process.hrtime.bigint();
    return {
      gapsMs: [...gapsMs(acts).values()].flat(),
      allAgainMs: Number(lastNs - this.#mendedNs) / 1e6,
      reconnectsMs: this.#losses().map(({ lostAtMs, upAtMs = Number.POSITIVE_INFINITY }) => upAtMs - lostAtMs),
      overlapMs: Math.round(longestOverlapMs(acts)),
      boundMs: STOP_MS,
      missedMs: this.#bystander.missedMs(this.#struckNs, nowNs),
    };
  }

  /** Each session that a service lost since the blow, and when it had the next one, as it logged them. */
  #losses(): { lostAtMs: number; upAtMs: number | undefined }[] {
    return SERVICES.flatMap((name) => {
      const found: { lostAtMs: number; upAtMs: number | undefined }[] = [];
      for (const { time, msg = "", connection = "" } of this.system.service(name).lines.map(lineOf)) {
        const atMs = Date.parse(String(time)) || Number(time);
        if (!connection.startsWith(`${name} consume`) || !(atMs >= this.#struckMs)) continue;
        const last = found.at(-1);
        const isUp = last === undefined || last.upAtMs !== undefined;
        if (msg.startsWith("the broker session is lost")) {
          if (isUp) found.push({ lostAtMs: atMs, upAtMs: undefined }); // else it was not up yet: the same outage
        } else if (msg === "connected to the broker" && last !== undefined) last.upAtMs ??= atMs;
      }
      return found;
    });
  }
}

function lineOf(line: string): { time?: string | number; msg?: string; connection?: string } {
  try {
    return JSON.parse(line) as { time?: string | number; msg?: string; connection?: string };
  } catch {
    return {};
  }
}
