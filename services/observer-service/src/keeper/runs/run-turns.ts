import type { ErrorText } from "@unacked/contracts";
import type { Handlers } from "./handlers.ts";
import type { LiveRun } from "./live-run.ts";
import { Pacer } from "./pacer.ts";
import type { RunInput } from "./run-machine.ts";
import type { RunTails } from "./run-tails.ts";

/** How long a run that needs a slot of its own waits before it tries again, if there may be no more slots. */
const NO_ROOM_PAUSE_MS = 1_000;

export interface RunTurnsParts {
  readonly handlers: Pick<Handlers, "noRoomFor" | "checkParams">;
  /** Whether the lease of that generation is held. */
  readonly holds: (generation: number) => boolean;
  readonly tails: RunTails;
  /** Takes a step in the run's life. */
  readonly apply: (run: LiveRun, input: RunInput) => void;
}

/**
 * When handlers of runs begin, for the first time or again. Guarantees: starts are paced; none begins without a held lease, before it is
 * admitted if its type asks first, while there is no room for it, or with params that do not pass.
 */
export class RunTurns {
  readonly #parts: RunTurnsParts;
  readonly #pacer = new Pacer<LiveRun>((run) => this.take(run));

  constructor(parts: RunTurnsParts) {
    this.#parts = parts;
  }

  /** Its turn comes behind all that were given one before. */
  give(run: LiveRun): void {
    this.#pacer.add(run);
  }

  /** It has its turn now. */
  take(run: LiveRun): void {
    const { holds, apply } = this.#parts;
    // A lost lease has already ended it, or ends it now.
    if (!holds(run.delivery.generation) && run.state.phase === "waiting") return this.#leaseLost(run);
    if (run.state.phase !== "waiting") return apply(run, { kind: "turn" });
    if (run.isAdmitted && run.admission === undefined) return apply(run, { kind: "ask" });
    this.#begin(run, "turn");
  }

  /** The run is admitted, and starts if it has asked. If it still waits for its turn, it starts then. */
  admitted(run: LiveRun): void {
    if (run.state.phase === "requested" && run.waitsForRoom !== true) this.#begin(run, "admitted");
  }

  /**
   * The same admission comes again: the manager has not heard that the run waits for a slot. A renewed admission is no reason to report it,
   * as that follows from its own asking: of two runs that are believed to hold one message, each would displace the other by its answer,
   * without a pause.
   */
  admittedAgain(run: LiveRun): void {
    const noRoom = run.waitsForRoom === true ? this.#parts.handlers.noRoomFor(run) : undefined;
    if (noRoom !== undefined) this.#parts.apply(run, { kind: "no-room", why: noRoom });
  }

  /** The pause after its failed attempt is over. */
  retry(run: LiveRun): void {
    const { handlers, holds, apply } = this.#parts;
    if (!holds(run.delivery.generation)) return;
    const noRoom = handlers.noRoomFor(run);
    if (noRoom === undefined) return apply(run, { kind: "retry-due" });
    this.#noteNoRoom(run, noRoom);
    run.timer = setTimeout(() => this.retry(run), NO_ROOM_PAUSE_MS);
  }

  /** Its params do not pass, as is found here, or by the slot that was to run it. */
  badParams(run: LiveRun, error: ErrorText): void {
    const { tails, apply } = this.#parts;
    tails.of(run).thrown("it was not started", error);
    apply(run, { kind: "bad-params", error });
  }

  #begin(run: LiveRun, kind: "turn" | "admitted"): void {
    const { handlers, holds, apply } = this.#parts;
    if (!holds(run.delivery.generation)) return this.#leaseLost(run);
    const noRoom = handlers.noRoomFor(run);
    if (noRoom !== undefined) return this.#waitForRoom(run, noRoom);
    const error = handlers.checkParams(run);
    if (error === undefined) return apply(run, { kind });
    this.badParams(run, error);
  }

  #leaseLost(run: LiveRun): void {
    this.#parts.apply(run, { kind: "stop", cause: { kind: "lease-lost" } });
  }

  /** It has not begun. It asks again for its turn, in which it may also be told to end, or, if it has had that, for the slot. */
  #waitForRoom(run: LiveRun, why: string): void {
    if (!run.waitsForRoom) run.log.warn({ event: "no-slot", why }, "the observer waits for a slot");
    this.#noteNoRoom(run, why);
    const hadItsTurn = run.state.phase === "requested";
    setTimeout(() => {
      if (!hadItsTurn) this.give(run);
      else if (run.state.phase === "requested") this.#begin(run, "admitted");
    }, NO_ROOM_PAUSE_MS);
  }

  /** Reported once, however often the run asks, and again to a manager that has not heard it (`admittedAgain`). */
  #noteNoRoom(run: LiveRun, why: string): void {
    if (!run.waitsForRoom) this.#parts.apply(run, { kind: "no-room", why });
    run.waitsForRoom = true;
  }
}
