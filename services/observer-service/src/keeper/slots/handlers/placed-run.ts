import type { MemberWord, RunUpdate } from "../../../wire/attempt.ts";
import type { StopCause } from "../../../wire/stop-cause.ts";
import type { HandledRun, HandlerHost } from "../../runs/handlers.ts";
import type { Line, Placed } from "../placement/placed.ts";
import type { Slot } from "../slot.ts";
import type { Stops } from "./stops.ts";

/** A start of a handler, as its runner holds it: passes what it is told on to its slot, when it has one. */
export class PlacedRun implements Placed {
  readonly id: number;
  readonly run: HandledRun;
  readonly host: HandlerHost;
  slot: Slot | undefined;
  beganMs = 0;
  awaits: Slot | undefined;
  cause: StopCause | undefined;
  isOver = false;
  stopTimer: NodeJS.Timeout | undefined;
  calmTimer: NodeJS.Timeout | undefined;
  line?: Line;
  results?: Map<string, MemberWord>;
  /** An update that its slot is to get once it has one. */
  #untold: RunUpdate | undefined;
  readonly #stops: Stops;

  constructor(id: number, host: HandlerHost, run: HandledRun, stops: Stops) {
    this.id = id;
    this.host = host;
    this.run = run;
    this.#stops = stops;
  }

  begin(): void {
    const { observerId, name, type, labels, params, silence } = this.run.start;
    const { runId, trace, taskAttempt, inputs, members, fencingToken, checkpoint } = this.run;
    const { line } = this;
    const traceContext = trace?.start?.context;
    this.slot?.process.send({
      kind: "begin",
      attempt: this.id,
      runId,
      observerId,
      name,
      type,
      labels,
      params,
      taskAttempt,
      ...(silence && { silence }),
      ...(fencingToken !== undefined && { fencingToken }),
      ...(checkpoint !== undefined && { checkpoint }),
      ...(inputs !== undefined && { inputs }),
      ...(members !== undefined && { members }),
      ...(line !== undefined && { line: line.id }),
      traceContext,
    });
    this.#tellUpdate();
  }

  update(word: RunUpdate): void {
    this.#untold = word;
    this.#tellUpdate();
  }

  #tellUpdate(): void {
    const { slot } = this;
    const untold = this.#untold;
    if (slot === undefined || untold === undefined) return;
    this.#untold = undefined;
    slot.process.send({ kind: "update", attempt: this.id, ...untold });
  }

  abort(cause: StopCause): void {
    this.#stops.stop(this, cause);
  }

  abortMember(taskId: string, cause: StopCause): void {
    this.slot?.process.send({ kind: "abort-member", attempt: this.id, taskId, cause });
  }

  recall(): void {
    this.slot?.process.send({ kind: "recall", attempt: this.id });
  }
}
