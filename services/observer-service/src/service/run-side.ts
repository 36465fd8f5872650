import type { Publisher } from "@unacked/broker";
import type { ServiceEvent } from "@unacked/contracts";
import type { ServiceIdentity } from "../keeper/identity.ts";
import { Caution } from "../keeper/intake/caution.ts";
import { GivenBack } from "../keeper/intake/given-back.ts";
import { Intake, type IntakeParts } from "../keeper/intake/intake.ts";
import { Shed } from "../keeper/intake/shed.ts";
import { Tombstones } from "../keeper/intake/tombstones.ts";
import { WorkConsumer, type WorkConsumerParts } from "../keeper/intake/work-consumer.ts";
import { WorkQueue, type WorkQueueParts } from "../keeper/intake/work-queue.ts";
import type { LeaseLoss } from "../keeper/lease/lease.ts";
import { EventSender } from "../keeper/outbox/event-sender.ts";
import { createOutput } from "../keeper/outbox/output.ts";
import type { Handlers } from "../keeper/runs/handlers.ts";
import { quietForMs } from "../keeper/runs/live-run.ts";
import type { RunState } from "../keeper/runs/run-machine.ts";
import { tailBytesOf } from "../keeper/runs/run-tail.ts";
import { Runner, type RunnerParts } from "../keeper/runs/runner.ts";
import type { SlotsView } from "../keeper/slots/slot-history.ts";
import { LoadedTypes } from "./loaded-types.ts";

export interface RunSideParts
  extends Omit<RunnerParts, "events" | "output" | "onGivenBack" | "tailBytes" | "traitsOf">,
    Omit<IntakeParts, "runner" | "events" | "tombstones" | "knowsType" | "asksFirst" | "saves" | "isTraced">,
    Pick<WorkConsumerParts, "memory" | "prove" | "onDelivery" | "onChange">,
    Pick<WorkQueueParts, "topology" | "proveBy" | "isDrained"> {
  readonly identity: ServiceIdentity;
  readonly handlers: Handlers & Pick<SlotsView, "collect">;
  readonly publisher: Pick<Publisher, "publish" | "declareAgain" | "writable" | "heldUp">;
  /** How many workers are reported to the manager. */
  readonly toldWorkers: () => number;
  readonly onTold: (event: ServiceEvent) => void;
  /** An emitted value of this type is with the broker, or never will be. */
  readonly onEmit: (outcome: "confirmed" | "failed", type: string) => void;
}

/**
 * Everything that a service does for observers, beside its tasks: they come from the work queue, run, and their outcome is reported.
 */
export class RunSide {
  readonly types: LoadedTypes;
  readonly events: EventSender;
  readonly runner: Runner;
  readonly intake: Intake;
  readonly work: WorkConsumer;
  readonly queue: WorkQueue;
  readonly shed: Shed;
  readonly tombstones = new Tombstones();
  readonly givenBack = new GivenBack();
  readonly #parts: RunSideParts;
  readonly #caution: Caution;

  constructor(parts: RunSideParts) {
    this.#parts = parts;
    const { identity, publisher, handlers, log, toldWorkers, onTold, onEmit, onDelivery } = parts;
    const { workerCount } = identity;
    this.#caution = new Caution(workerCount);
    const types = new LoadedTypes(handlers);
    this.types = types;
    const events = new EventSender(() => ({ ...identity, workerCount: toldWorkers() }), { publisher, log }, onTold);
    this.events = events;
    const runner = new Runner({
      ...parts,
      events,
      output: createOutput(publisher, identity.serviceId, onEmit),
      onGivenBack: (observerId) => this.givenBack.note(observerId, performance.now()),
      tailBytes: tailBytesOf(workerCount),
      traitsOf: (type) => ({ isAdmitted: types.asksFirst(type), hasCheckpoint: types.saves(type) }),
    });
    this.runner = runner;
    const intake = new Intake({
      ...parts,
      runner,
      events,
      tombstones: this.tombstones,
      knowsType: (type) => types.has(type),
      asksFirst: (type) => types.asksFirst(type),
      saves: (type) => types.saves(type),
      isTraced: parts.tracing !== undefined,
    });
    this.intake = intake;
    const work = new WorkConsumer({
      ...parts,
      workers: workerCount,
      running: () => runner.runs.size,
      caution: this.#caution,
      underWay: () => events.waiting + this.phases.filter((phase) => phase === "waiting").length,
      onDelivery: (delivery) => {
        onDelivery(delivery);
        intake.take(delivery);
      },
      collect: () => handlers.collect(),
    });
    this.work = work;
    const queue = new WorkQueue({ ...parts, consumer: work, intake, givenBack: this.givenBack });
    this.queue = queue;
    this.shed = new Shed({ ...parts, work, runner, look: () => queue.look() });
  }

  /** The phase of every run that this service holds. */
  get phases(): RunState["phase"][] {
    return this.runner.runs.all().map(({ state }) => state.phase);
  }

  /** How many runs are silent for longer than they may without a warning. */
  get silent(): number {
    return this.runner.runs.all().filter((run) => quietForMs(run) !== undefined).length;
  }

  /** What it lost comes again, and was too much at once. */
  leaseLost(why: LeaseLoss): void {
    if (!this.#caution.leaseLost(why, performance.now())) return;
    this.#parts.log.warn(
      { event: "intake-careful" },
      "work is taken a few messages at a time, and more as the broker answers",
    );
  }

  /**
   * While nothing can be published, an observer without input is not to blame for silence. Goes on until the process ends.
   */
  async holdSilence(): Promise<void> {
    const { handlers, publisher, closing } = this.#parts;
    try {
      for (;;) {
        handlers.holdSilence(true);
        await publisher.writable(closing);
        handlers.holdSilence(false);
        await publisher.heldUp(closing);
      }
    } catch (error) {
      if (!closing.aborted) throw error;
    }
  }
}
