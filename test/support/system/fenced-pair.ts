import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Act } from "../acts/invariants.ts";
import type { TcpProxy } from "../broker/tcp-proxy.ts";
import { eventually } from "../eventually.ts";
import { childrenOf, membersOf, ownPid, slotsOf } from "../processes/process-tree.ts";
import { temporaryFolder } from "../servers/servers.ts";
import type { System } from "./system.ts";

export const OBSERVERS = 4;

/** What the handlers in a slot are doing when their service is lost. */
export type Doing = "idle" | "endless-loop" | "exec-sync";

/** What a service's process runs below. */
export const BELOW = {
  "like any process": [],
  "as PID 1": ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"],
  "below an init": ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "tini", "--"],
} as const;
export type Below = keyof typeof BELOW;

/** A service with its own way to the broker. */
export interface Member {
  readonly name: string;
  /** Of the process that holds the lease, whatever it runs below. */
  readonly keeperPid: number;
  readonly wire: TcpProxy;
  readonly lines: readonly string[];
}

/** Two services of a pool: one runs all observers, the other has room for them. They change roles by each fault. */
export class FencedPair {
  holder!: Member;
  heir!: Member;
  readonly #ids = new Set<string>();
  readonly #orders = temporaryFolder("orders");
  readonly #system: System;
  readonly #pool: string;
  readonly #below: Below;
  #started = 0;

  constructor(system: System, pool: string, below: Below) {
    this.#system = system;
    this.#pool = pool;
    this.#below = below;
  }

  async open(): Promise<this> {
    this.holder = await this.start();
    const params = { how: "nothing", afterMs: 0, orders: this.#orders, file: this.#system.actsFile };
    for (let i = 0; i < OBSERVERS; i += 1) {
      const { status, body } = await this.#system.call<{ id: string }>("POST", "/api/v1/observers", {
        name: `${this.#pool}-${i}`,
        type: "poison",
        params,
        pool: this.#pool,
      });
      expect(status, JSON.stringify(body)).toBe(201);
      this.#ids.add(body.id);
    }
    await this.untilRuns(this.holder);
    this.heir = await this.start();
    return this;
  }

  /** One more service, which is not needed yet. */
  async start(): Promise<Member> {
    this.#started += 1;
    const name = `${this.#pool}-${this.#started}`;
    const wire = await this.#system.wire();
    const below = BELOW[this.#below];
    const env = { POOL: this.#pool, OBSERVERS_DIR: "test/fixtures/poison" };
    const service = await this.#system.startService(name, { wire, below, env, untilKnown: false });
    await this.untilKnown(name);
    const [first = 0] = below.length === 0 ? [service.pid] : childrenOf(service.pid);
    const [keeperPid = 0] = below.includes("tini" as never) ? childrenOf(first) : [first];
    return { name, keeperPid, wire, lines: service.lines };
  }

  /** By the books, in this generation or a later one, with its slots up. */
  untilKnown(name: string, generation = 1): Promise<void> {
    return eventually(
      async () => {
        const known = (await this.#system.listServices()).find((one) => one.name === name);
        expect(known?.state).toBe("Alive");
        expect(known?.generation).toBeGreaterThanOrEqual(generation);
        expect(known?.slots.length).toBeGreaterThanOrEqual(2);
      },
      { what: `${name} in the books`, timeoutMs: 30_000 },
    );
  }

  async generationOf(name: string): Promise<number> {
    return (await this.#system.listServices()).find((one) => one.name === name)?.generation ?? 0;
  }

  /** Each of its observers acts there. */
  untilRuns({ name }: Member, timeoutMs = 30_000): Promise<void> {
    return eventually(() => expect(this.#actingFor(name)).toBe(OBSERVERS), {
      timeoutMs,
      what: `all observers running on ${name}`,
    });
  }

  acts(sinceNs: bigint): (Act & { serviceName: string; slot: number })[] {
    const all = this.#system.acts().filter(({ observerId, monotonicNs: ns }) => ns >= sinceNs && this.#ids.has(observerId));
    return all as (Act & { serviceName: string; slot: number })[];
  }

  /** The living slots, by the pid that they call themselves, in which the holder's observers act. One that was frozen may have acted until now, by a child. */
  actingSlots(): number[] {
    const lately = this.acts(process.hrtime.bigint() - 500_000_000n);
    const acting = new Set(lately.filter(({ serviceName }) => serviceName === this.holder.name).map(({ slot }) => slot));
    return [...acting].filter((slot) => this.pidOf(slot) !== 0);
  }

  /** Lets one handler in each of these slots do so, and waits until it does. */
  async order(doing: Doing, slots: readonly number[]): Promise<void> {
    if (doing === "idle") return;
    const sinceNs = process.hrtime.bigint();
    for (const slot of slots) giveOrder(this.#orders, slot, doing);
    await eventually(() => {
      const at = this.acts(sinceNs).filter(({ kind }) => (kind as string) === "deed");
      expect(new Set(at.map(({ slot }) => slot))).toEqual(new Set(slots));
    });
  }

  /** The processes of the holder's slots. */
  slotPids(): number[] {
    return slotsOf(this.holder.keeperPid);
  }

  pidOf(slot: number): number {
    return this.slotPids().find((pid) => ownPid(pid) === slot) ?? 0;
  }

  /** Resolves when nothing of these process groups is left. @returns the ms since then */
  async untilGone(groups: readonly number[], sinceMs: number): Promise<number> {
    const limitMs = performance.now() + 20_000;
    for (let left = membersOf(groups); left.length > 0; left = membersOf(groups)) {
      if (performance.now() > limitMs) throw new Error(`still there: ${left.join(", ")} of the groups ${groups.join(", ")}`);
      await new Promise((resolve) => setTimeout(resolve, 5)); // more exactly than `eventually`: it is what is measured
    }
    return performance.now() - sinceMs;
  }

  /** How many have an error to their name. */
  async blamed(): Promise<number> {
    return (await this.#system.observers([...this.#ids])).filter(({ lastError }) => lastError !== null).length;
  }

  #actingFor(name: string): number {
    const lately = this.acts(process.hrtime.bigint() - 300_000_000n).filter(({ serviceName }) => serviceName === name);
    return new Set(lately.map(({ observerId }) => observerId)).size;
  }
}

/** To the poison in this slot, at once: test/fixtures/poison. A file that is being written might be read half. */
export function giveOrder(folder: string, slot: number, doing: string): void {
  const file = join(folder, String(slot));
  writeFileSync(`${file}.new`, doing);
  renameSync(`${file}.new`, file);
}
