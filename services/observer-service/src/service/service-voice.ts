import type { LossReason } from "@unacked/broker";
import type { ServiceBorn, ServiceEvent } from "@unacked/contracts";
import type { Drain } from "../keeper/intake/drain.ts";
import type { WorkConsumer } from "../keeper/intake/work-consumer.ts";
import type { EventSender } from "../keeper/outbox/event-sender.ts";
import type { Runner } from "../keeper/runs/runner.ts";
import { within } from "../within.ts";
import type { ServiceParts } from "./service-parts.ts";
import { EventLoopLag, serviceAlive, serviceBorn } from "./service-report.ts";

export interface ServiceVoiceParts extends Pick<ServiceParts, "identity" | "version" | "handlers" | "cost"> {
  readonly events: Pick<EventSender, "tell" | "emptied">;
  /** Reports on tasks in the same way. */
  readonly tasks: { tellAlive(): void; readonly sender: { emptied(): Promise<void> } };
  readonly runner: Pick<Runner, "runs">;
  readonly work: Pick<WorkConsumer, "room" | "isConsuming" | "pausedFor">;
  readonly drain: Pick<Drain, "begun" | "cordoned">;
  /** Whether there is a session in which this service is born. Before that nobody would hear it. */
  readonly isHeard: () => boolean;
  readonly heartbeatMs: () => number;
}

/** A service's reports about itself: its birth, its state, its end. All of them go out in order, among the events of its runs. */
export class ServiceVoice {
  /** Why the last session was lost. The next birth reports it. */
  lastLoss: LossReason | undefined;
  readonly #parts: ServiceVoiceParts;
  /** How many values each type has emitted since the boot. */
  readonly #emits = new Map<string, number>();
  readonly #lag = new EventLoopLag();
  #workers: number;

  constructor(parts: ServiceVoiceParts) {
    this.#parts = parts;
    this.#workers = parts.identity.workerCount;
  }

  /** How many workers are reported to the manager. */
  get workers(): number {
    return this.#workers;
  }

  get isHeard(): boolean {
    return this.#parts.isHeard();
  }

  tell(event: ServiceEvent, onConfirmed?: () => void): void {
    this.#parts.events.tell(event, onConfirmed);
  }

  /** An observer of this type has published something, and the broker has it. */
  noteEmit(type: string): void {
    this.#emits.set(type, (this.#emits.get(type) ?? 0) + 1);
  }

  introduction(): ServiceBorn {
    const { identity, version, handlers, heartbeatMs, drain } = this.#parts;
    const { types, broken: brokenFiles } = handlers.catalogue;
    const { begun: draining, cordoned } = drain;
    return serviceBorn({
      identity: { ...identity, workerCount: this.#workers },
      version,
      types,
      brokenFiles,
      lastLoss: this.lastLoss,
      heartbeatMs: heartbeatMs(),
      draining,
      cordoned,
    });
  }

  /** Reports the current state. At most one such report waits at a time. @returns whether it could be sent */
  tellAlive(): boolean {
    if (!this.isHeard) return false;
    const { runner, cost, handlers, tasks, work, drain } = this.#parts;
    const running = runner.runs.size;
    // With `auto` it is no more than what runs and what there is room for.
    if (cost !== undefined) this.#workers = Math.max(1, running + work.room);
    const { begun: draining, cordoned } = drain;
    const { isConsuming: consuming, pausedFor: notConsuming } = work;
    const now = {
      workerCount: this.#workers,
      running,
      draining,
      cordoned,
      eventLoopLagMs: this.#lag.takeWorstMs(),
      consuming,
    };
    const emits = Object.fromEntries(this.#emits);
    cost?.keep();
    this.tell(serviceAlive({ ...now, emits, ...(notConsuming !== undefined && { notConsuming }) }, handlers));
    tasks.tellAlive();
    return true;
  }

  /** The last word. @param limitMs to wait until it, and all before it, is confirmed; 0: it is not waited for */
  async sayFarewell(reason: string, limitMs: number): Promise<void> {
    const { events, tasks } = this.#parts;
    this.tell({ kind: "ServiceDied", at: Date.now(), reason });
    if (limitMs > 0) await within(limitMs, Promise.all([events.emptied(), tasks.sender.emptied()]));
  }
}
