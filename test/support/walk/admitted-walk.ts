import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ObserverView } from "@unacked/contracts";
import { expect } from "vitest";
import { type AdmissionLine, admissionViolations, type Restore } from "../acts/admissions.ts";
import { type MessageTrace, traceMessages } from "../broker/message-trace.ts";
import type { TcpProxy } from "../broker/tcp-proxy.ts";
import { eventually } from "../eventually.ts";
import type { Bystander } from "../processes/bystander.ts";
import type { RunningProcess } from "../processes/processes.ts";
import { proves } from "../runs/counts.ts";
import { compiled } from "../runs/observers-dir.ts";
import { runStatement } from "../servers/servers.ts";
import { change, lastMarks, marked, untilItMayChange } from "../system/changes.ts";
import type { System } from "../system/system.ts";
import type { AdmittedStep } from "./admitted-steps.ts";

const SERVICES = ["service-1", "service-2", "service-3"];
const OLD = "service-of-before";
const WORKERS = 20;
const FIRST_OBSERVERS = 10;
const MOST_OBSERVERS = 20;
const EVERY_MS = 25;
const LATEST_MS = 60;
const SETTLE_MS = 120_000;
/** How long a changed observer may be away where nothing is wrong. `npm test` runs on machines that stand still for seconds: it prints the figure. */
const BACK_WITHIN_MS = proves("changes") ? 1_000 : 10_000;

/** Whatever nobody answers just then is no step; any other refusal has to fit how things stand. */
const TAKEN = [200, 201, 202, 404, 409];

/**
 * Does the steps of a walk to real processes, two managers and three services whose connections are each late by themselves, and judges
 * by what handlers wrote outside.
 */
export class AdmittedWalk {
  readonly #system: System;
  readonly #bystander: Bystander;
  readonly #wires = new Map<string, TcpProxy>();
  /** Of each that is wanted, its type. */
  readonly #types = new Map<string, "walker" | "stamp">();
  readonly #managers: { process: RunningProcess; url: string }[] = [];
  /** Of a seed. */
  readonly #random: () => number;
  /** Where the version before is built. */
  readonly #oldRoot: string | undefined;
  #old: RunningProcess | undefined;
  #trace: MessageTrace | undefined;
  #mark = 0;
  /** How long changed observers were away in the calm, beyond what a bare process missed. */
  readonly away: number[] = [];
  readonly #restores: Restore[] = [];
  /** Starts from an older checkpoint than had been saved, as their run was gone before restored books were told of it. */
  gone = 0;
  readonly done = new Map<string, number>();

  constructor(system: System, bystander: Bystander, random: () => number, oldRoot?: string) {
    this.#system = system;
    this.#bystander = bystander;
    this.#random = random;
    this.#oldRoot = oldRoot;
  }

  async begin(): Promise<void> {
    const system = this.#system;
    this.#trace = await traceMessages(system.env.AMQP_URL ?? "", system.management);
    for (let i = 0; i < 2; i += 1) await this.#startManager();
    for (const name of [...SERVICES, OLD]) {
      const wire = await system.wire();
      wire.delayEach(() => Math.round(this.#random() * LATEST_MS));
      this.#wires.set(name, wire);
      if (name !== OLD) await this.#startService(name);
    }
    await untilItMayChange(system);
    for (let i = 0; i < FIRST_OBSERVERS; i += 1) await this.#create();
    await this.settle();
  }

  async end(): Promise<void> {
    await this.#trace?.close();
  }

  async take({ pauseMs, ...step }: AdmittedStep): Promise<void> {
    await sleep(pauseMs);
    this.done.set(step.kind, (this.done.get(step.kind) ?? 0) + 1);
    switch (step.kind) {
      case "create":
        return this.#create();
      case "delete":
        return this.#delete(this.#pickName(step.pick));
      case "pause":
      case "resume":
      case "restart":
        return this.#ask(
          "POST",
          `${this.#pickName(step.pick)}/${step.kind}${step.kind === "resume" ? "?whenFull=queue" : ""}`,
        );
      case "change":
        return this.#change(this.#pickName(step.pick), step.answer);
      case "silence":
        return this.#ask("PATCH", this.#pickName(step.pick), { silence: { warnAfterMs: step.warnAfterMs } });
      case "kill-service":
        return this.#replaceService(step.pick);
      case "kill-slot":
        return this.#killSlot(step.pick);
      case "reset-wire":
        return this.#wires.get(at(SERVICES, step.pick) ?? "")?.reset();
      case "kill-manager":
        return this.#replaceManager();
      case "old-service":
        return this.#old === undefined ? this.#startOld() : this.#endOld("SIGKILL");
      case "replay":
        return this.#replay(step.what, step.pick);
      default:
        return step satisfies never;
    }
  }

  /** Until all that is wanted runs as it is wanted, and nothing is under way; then the judges. */
  async settle(): Promise<void> {
    await untilItMayChange(this.#system);
    await eventually(
      async () => {
        const all = await this.#living();
        for (const { name, status, pending } of all)
          if (status === "Paused" || pending === "pause") await this.#ask("POST", `${name}/resume?whenFull=queue`);
        const moving = all.filter(({ status, pending }) => status !== "Processing" || pending !== null);
        expect(moving.map(({ name, status, pending }) => `${name} ${status} ${pending}`)).toEqual([]);
        expect(all.map(({ name }) => name).toSorted()).toEqual([...this.#types.keys()].toSorted());
      },
      { timeoutMs: SETTLE_MS, what: "that all run" },
    );
    this.judge();
  }

  /**
   * Each is changed once more, and has to act by that, whatever was rejected or lost before: within a second, where nobody had to repair.
   * No service of before is there by then: one that gets what it does not know lets it go, to be sent again 3 s later.
   */
  async changeAllInCalm(): Promise<void> {
    const system = this.#system;
    await this.#endOld("SIGTERM");
    await this.settle();
    const repairsBefore = this.#repairs();
    const marks = new Map<string, string>();
    const sinceNs = new Map<string, bigint>();
    for (const { id, name } of await this.#living()) {
      marks.set(id, this.#nextMark());
      sinceNs.set(id, process.hrtime.bigint());
      const answer = this.#mark % 3 === 0 ? "restart" : "applied";
      await eventually(
        async () => {
          const { status, body } = await change(system, name, this.#paramsOf(name, marks.get(id) ?? "", answer));
          expect([200, 202], JSON.stringify(body)).toContain(status);
        },
        { what: `that ${name} is changed` },
      );
    }
    await eventually(
      () => {
        const last = lastMarks(system);
        expect([...marks].filter(([id, mark]) => last.get(id) !== mark)).toEqual([]);
      },
      { timeoutMs: SETTLE_MS, what: "that each acts by its last change" },
    );
    await this.settle();
    // One whose message is given to another service just then is shown without a run for a moment.
    await eventually(
      async () => {
        for (const one of await this.#living())
          expect([one.name, one.observedSpecVersion, one.rejectedUpdate]).toEqual([one.name, one.specVersion, null]);
      },
      { timeoutMs: SETTLE_MS, what: "that each is seen to run as it is wanted" },
    );
    if (this.#repairs() === repairsBefore) for (const [id, fromNs] of sinceNs) this.#measureAway(id, fromNs);
  }

  #measureAway(id: string, fromNs: bigint): void {
    const acts = this.#system
      .acts()
      .filter((act) => act.observerId === id && act.kind !== "stop" && act.monotonicNs > fromNs - 200_000_000n);
    for (const [i, act] of acts.entries()) {
      const before = acts[i - 1];
      if (before === undefined) continue;
      const awayMs = Number(act.monotonicNs - before.monotonicNs) / 1e6 - EVERY_MS;
      this.away.push(Math.max(0, awayMs - this.#bystander.missedMs(before.monotonicNs, act.monotonicNs)));
    }
    const longest = Math.max(...this.away);
    expect(longest, `${id} was away for ${longest} ms after its change, beyond what a bare process missed`).toBeLessThan(
      BACK_WITHIN_MS,
    );
  }

  #repairs(): number {
    return this.#system.managers.flatMap(({ lines }) => lines.filter((line) => line.includes('"event":"repaired"'))).length;
  }

  /** The books as they are by now: what a backup of this moment holds. */
  async dump(): Promise<void> {
    await this.#withoutManagers(async (server, name) => {
      await runStatement(server, `DROP DATABASE IF EXISTS "${name}_dump" WITH (FORCE)`);
      await runStatement(server, `CREATE DATABASE "${name}_dump" TEMPLATE "${name}"`);
    });
  }

  /** The holders of all messages live, and go on. */
  async restore(): Promise<void> {
    const restore = { fromNs: process.hrtime.bigint(), toNs: 2n ** 63n };
    this.#restores.push(restore);
    await this.#withoutManagers(async (server, name) => {
      await runStatement(server, `DROP DATABASE "${name}" WITH (FORCE)`);
      await runStatement(server, `CREATE DATABASE "${name}" TEMPLATE "${name}_dump"`);
    });
    // Books that hear no more of a run than its life do not know what it has saved: they ask, or are told, within the next signs of life.
    await this.settle();
    await this.#untilCheckpointsAreThere();
    restore.toNs = process.hrtime.bigint();
    this.judge();
  }

  async dropDump(): Promise<void> {
    const { server, name } = this.#database();
    await runStatement(server, `DROP DATABASE IF EXISTS "${name}_dump" WITH (FORCE)`);
  }

  /** Each service in turn, so that every observer has to be admitted anew. */
  async killAllInTurn(): Promise<void> {
    for (const name of SERVICES) {
      await this.#system.service(name).kill("SIGKILL");
      await this.#startService(name);
      await this.settle();
    }
  }

  judge(): void {
    const found = admissionViolations(this.saves(), this.#restores);
    const wrong = found.filter(({ invariant }) => invariant !== "gone-at-restore");
    expect(wrong.slice(0, 10)).toEqual([]);
    this.gone = found.length;
  }

  saves(): AdmissionLine[] {
    const file = `${this.#system.actsFile}.saves`;
    if (!existsSync(file)) return [];
    const whole = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.endsWith("}"));
    return whole.map((line) => {
      const { monotonicNs, ...rest } = JSON.parse(line) as Omit<AdmissionLine, "monotonicNs"> & { monotonicNs: string };
      return { ...rest, monotonicNs: BigInt(monotonicNs) };
    });
  }

  async #untilCheckpointsAreThere(): Promise<void> {
    const since = process.hrtime.bigint();
    await eventually(
      async () => {
        const reached = new Map<string, number>();
        for (const { observerId, kind, n, monotonicNs } of this.saves())
          if (kind === "resolved" && monotonicNs < since) reached.set(observerId, n);
        for (const [id, n] of reached) {
          const { status, body } = await this.#system.call<{ value: { n: number } | null }>(
            "GET",
            `/api/v1/observers/${id}/checkpoint`,
          );
          if (status === 200) expect([id, (body.value?.n ?? 0) >= n]).toEqual([id, true]);
        }
      },
      { timeoutMs: SETTLE_MS, what: "that the books have what was saved" },
    );
  }

  /** A manager closes connections that nobody has used for long, and may do so as one is used again. */
  async #living(): Promise<ObserverView[]> {
    const all = await eventually(() => this.#system.listObservers(), { what: "a list of observers" });
    return all.filter(({ status }) => status !== "Deleted");
  }

  #pickName(share: number): string {
    return at([...this.#types.keys()], share) ?? "nobody";
  }

  #nextMark(): string {
    this.#mark += 1;
    return `m${this.#mark}`;
  }

  #paramsOf(name: string, mark: string, answer = "applied"): { params: object } {
    const more = this.#types.get(name) === "stamp" ? {} : { answer };
    return { params: marked(this.#system, mark, { everyMs: EVERY_MS, ...more }) };
  }

  async #create(): Promise<void> {
    if (this.#types.size >= MOST_OBSERVERS) return;
    const name = `walker-${this.#nextMark()}`;
    this.#types.set(name, "walker");
    // Until somebody answers: to have what is there already is no harm.
    await eventually(
      async () => {
        const type = this.#types.get(name);
        const { status, body } = await this.#system.call<{ code?: string }>("PUT", `/api/v1/observers/${name}`, {
          type,
          ...this.#paramsOf(name, "first"),
        });
        // Beside a service of before, none is taken that asks before it starts.
        if (body.code === "admission-not-known" && this.#old !== undefined) this.#types.set(name, "stamp");
        expect([200, 201, 202], JSON.stringify(body)).toContain(status);
      },
      { timeoutMs: SETTLE_MS, what: `that ${name} is there` },
    );
  }

  async #delete(name: string): Promise<void> {
    if (this.#types.size <= 4 || !this.#types.delete(name)) return;
    await eventually(
      async () => {
        const one = (await this.#living()).find((each) => each.name === name);
        if (one === undefined) return;
        this.#system.mayStartOnceMore(one.id);
        await this.#ask("DELETE", `${name}?force=true`);
        throw new Error(`${name} is ${one.status}`);
      },
      { timeoutMs: SETTLE_MS, what: `that ${name} is deleted` },
    );
  }

  #change(name: string, answer: string): Promise<void> {
    return this.#ask("PATCH", name, this.#paramsOf(name, this.#nextMark(), answer));
  }

  async #ask(method: string, rest: string, body?: object): Promise<void> {
    const answer = await this.#system
      .call<{ code?: string }>(method, `/api/v1/observers/${rest}`, body)
      .catch(() => undefined);
    if (answer !== undefined && answer.status !== 503) expect(TAKEN, JSON.stringify(answer.body)).toContain(answer.status);
  }

  async #startService(name: string): Promise<void> {
    const wire = this.#wires.get(name) as TcpProxy;
    const env = { OBSERVERS_DIR: compiled("admitted"), CHECKPOINT_EVERY_MS: "100", SLOTS: "2" };
    await this.#system.startService(name, { workers: WORKERS, wire, env, untilKnown: false });
  }

  async #replaceService(share: number): Promise<void> {
    const name = at(SERVICES, share) ?? "";
    await this.#system.service(name).kill("SIGKILL");
    await this.#startService(name);
  }

  async #startOld(): Promise<void> {
    const wire = this.#wires.get(OLD) as TcpProxy;
    this.#old = await this.#system.startService(OLD, { root: this.#oldRoot, workers: WORKERS, wire, untilKnown: false });
  }

  async #endOld(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    await this.#old?.kill(signal);
    this.#old = undefined;
  }

  #killSlot(share: number): void {
    const slots = [
      ...new Set(
        this.#system
          .acts()
          .slice(-200)
          .flatMap(({ slot }) => slot ?? []),
      ),
    ];
    const slot = at(slots, share);
    try {
      if (slot !== undefined) process.kill(slot, "SIGKILL");
    } catch {
      // It is gone already.
    }
  }

  async #startManager(): Promise<void> {
    const manager = await this.#system.startManager({ untilReady: false });
    this.#managers.push({ process: manager, url: this.#system.url });
    await this.#system.untilReady();
  }

  /** The other one goes on, and is spoken to. */
  async #replaceManager(): Promise<void> {
    const [old, other] = this.#managers.splice(0, 1).concat(this.#managers);
    await old?.process.kill("SIGKILL");
    if (other !== undefined) this.#system.url = other.url;
    const next = await this.#system.startManager({ untilReady: false, speakTo: false });
    const { url } = await next.waitForEvent("listening");
    this.#managers.push({ process: next, url: String(url) });
  }

  async #replay(what: string, share: number): Promise<void> {
    const copies = (this.#trace?.messages ?? []).filter(({ body }) => body.includes(`"kind":"${what}"`));
    const one = at(copies, share);
    if (one === undefined) return;
    const { exchange, routingKey, body, properties } = one;
    const type = typeof properties["type"] === "string" ? { type: properties["type"] } : {};
    await this.#system.management.publish({ exchange, routingKey, body: body.toString(), properties: type });
  }

  #database(): { server: string; name: string } {
    const url = new URL(this.#system.env.DATABASE_URL ?? "");
    const name = url.pathname.slice(1);
    url.pathname = "/postgres";
    return { server: url.href, name };
  }

  async #withoutManagers(work: (server: string, name: string) => Promise<void>): Promise<void> {
    await Promise.all(this.#managers.splice(0).map((manager) => manager.process.kill("SIGKILL")));
    const { server, name } = this.#database();
    await work(server, name);
    for (let i = 0; i < 2; i += 1) await this.#startManager();
  }
}

const at = <T>(items: readonly T[], share: number): T | undefined => items[Math.floor(share * items.length)];
