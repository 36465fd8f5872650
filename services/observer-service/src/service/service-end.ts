import type { Publisher } from "@unacked/broker";
import { errorText, stackOf } from "../error-text.ts";
import type { Drain } from "../keeper/intake/drain.ts";
import type { FencedRuns } from "../keeper/lease/fenced-runs.ts";
import type { LeaseKeeper } from "../keeper/lease/lease-keeper.ts";
import { within } from "../within.ts";
import type { Generations } from "./generations.ts";
import type { ServiceParts } from "./service-parts.ts";
import type { ServiceVoice } from "./service-voice.ts";

export interface ServiceEndParts
  extends Pick<ServiceParts, "handlers" | "stopTimeoutMs" | "tracing" | "onFail" | "onFailed" | "log"> {
  readonly drain: Pick<Drain, "run" | "refuseAll">;
  /** The runs of observers and tasks. */
  readonly runs: Pick<FencedRuns, "unsettled" | "settled" | "endForCertain">;
  readonly lease: Pick<LeaseKeeper, "processFailed" | "retire">;
  readonly generations: Pick<Generations, "status" | "heartbeatMs" | "close">;
  readonly publisher: Pick<Publisher, "status" | "close">;
  readonly voice: Pick<ServiceVoice, "sayFarewell">;
  /** Stops the regular reports, as the farewell is the last one. */
  readonly quieten: () => void;
  /** Ends the senders, and what waits for the end of the process. */
  readonly closeSenders: () => void;
}

/** The time that is kept back for the last events and the close. */
const FAREWELL_MS = 3_000;
/** The time for the last spans of slots. */
const FLUSH_MS = 1_000;

/** Ends one observer-service, in order or by an error that belongs to no run. */
export class ServiceEnd {
  readonly #parts: ServiceEndParts;
  #begun = false;
  #failing = false;

  constructor(parts: ServiceEndParts) {
    this.#parts = parts;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /**
   * Takes nothing new, lets every run settle and gives its message back, surely ends what does not settle, reports it, all
   * within `stopTimeoutMs`, and closes. A crash in the middle leaves the rest to the broker, which gives it back as well.
   */
  async inOrder(why: string): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const { stopTimeoutMs, drain } = this.#parts;
    const endMs = performance.now() + stopTimeoutMs;
    const farewellMs = Math.min(FAREWELL_MS, stopTimeoutMs / 4);
    await drain.run(why, stopTimeoutMs - farewellMs);
    const nothingRuns = await this.#endUnsettled(farewellMs / 2);
    await this.#sayFarewell(why, Math.max(0, Math.min(endMs - performance.now(), farewellMs)));
    await this.#close(nothingRuns);
  }

  /** Fences everything, reports that if it can, and makes the process end. */
  async byError(error: unknown): Promise<void> {
    const { log, onFail, onFailed, drain, generations, lease } = this.#parts;
    log.fatal(
      { event: "process-failed", error: errorText(error), stack: stackOf(error) },
      "an error that belongs to no observer; this process ends",
    );
    if (this.#failing) return;
    this.#failing = true;
    onFail(error);
    this.#begun = true;
    drain.refuseAll();
    await within(0.4 * generations.heartbeatMs, lease.processFailed());
    await this.#sayFarewell("an error that belongs to no observer", 1_000);
    onFailed();
  }

  async #sayFarewell(reason: string, limitMs: number): Promise<void> {
    const { quieten, voice, publisher } = this.#parts;
    quieten();
    await voice.sayFarewell(reason, publisher.status.up ? limitMs : 0);
  }

  /**
   * Handlers that have not settled go with their slots, while the broker keeps their messages from others; then these are given back
   * as any other.
   *
   * @returns false if there are no slots: only the end of this process ends them
   */
  async #endUnsettled(limitMs: number): Promise<boolean> {
    const { runs, generations } = this.#parts;
    const { generation } = generations.status;
    if (runs.unsettled(generation).length === 0) return true;
    if (!runs.endForCertain(generation)) return false;
    await within(limitMs, runs.settled(generation));
    return true;
  }

  /** @param nothingRuns else the connection that holds the messages is left standing: it goes with the process, and what runs with both */
  async #close(nothingRuns: boolean): Promise<void> {
    const { lease, closeSenders, handlers, tracing, generations, publisher } = this.#parts;
    lease.retire();
    closeSenders();
    const ended = handlers.close(tracing === undefined ? 0 : FLUSH_MS);
    await Promise.all([ended, nothingRuns && generations.close(), publisher.close()]);
  }
}
