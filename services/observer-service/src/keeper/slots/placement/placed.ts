import type { ErrorText, LogLevel } from "@unacked/contracts";
import type { Attempt, MemberWord } from "../../../wire/attempt.ts";
import type { StopCause } from "../../../wire/stop-cause.ts";
import type { HandledRun, HandlerHost } from "../../runs/handlers.ts";
import type { Unowned } from "../blame/blame.ts";
import type { Slot } from "../slot.ts";
import type { LoadedMessage } from "../supply/slot-supply.ts";

/** A start of a handler, placed in a slot or waiting for one. */
export interface Placed extends Attempt {
  /** Identifies it on its slot's pipe. */
  readonly id: number;
  readonly run: HandledRun;
  readonly host: HandlerHost;
  slot: Slot | undefined;
  /** When it was placed there, by performance.now(). */
  beganMs: number;
  /** The slot whose loading it waits for. */
  awaits: Slot | undefined;
  /** The cause for which it has been told to end. */
  cause: StopCause | undefined;
  /** Whether it has settled, or its slot has gone. */
  isOver: boolean;
  stopTimer: NodeJS.Timeout | undefined;
  calmTimer: NodeJS.Timeout | undefined;
  /** The line of runs, one after the other, that it belongs to. */
  line?: Line;
  /** For a batch: the results of its tasks so far. */
  results?: Map<string, MemberWord>;
  /** It has a slot, which is told to begin it. */
  begin(): void;
}

/** Why a slot was ended, or ended itself, if that is known. */
export type Reason =
  /** One of its handlers did something that ends or blocks it. */
  | { kind: "culprit"; runId: string; error: Error }
  /** One of its handlers ignores its stop; the others begin again elsewhere. */
  | { kind: "ended-for"; runId: string }
  /** It took far more memory than it may. Who could be to blame was noted when that began. */
  | { kind: "recycled"; why: string }
  /** It was not needed any more. */
  | { kind: "dissolved"; why: string }
  /** Neither its threads nor its runs do anything, so it was frozen from outside. Nobody is blamed. */
  | { kind: "frozen" }
  /** What ended it belongs to no handler, and may happen in every slot: a run that was alone in it is not to blame. */
  | { kind: "nobodys-error"; what: Unowned; error: ErrorText }
  /** Its last words name nobody: one of its runs did it. */
  | { kind: "last-word"; error: ErrorText };

/** Runs that go one after the other in one slot. */
export interface Line {
  /** The attempt of its first run, which identifies the line on the slot's pipe. */
  readonly id: number;
  /** The runs that have not settled, in their order. The first one runs. */
  readonly left: Placed[];
}

/** Whether it waits behind another run, or did when its slot was last heard of. */
export const isInLine = (placed: Placed): boolean => placed.line !== undefined && placed.line.left[0] !== placed;

export function clearTimers({ stopTimer, calmTimer }: Placed): void {
  clearTimeout(stopTimer);
  clearTimeout(calmTimer);
}

/** Writes a line that a handler has logged in its slot. */
export function writeLine({ run, host }: Placed, line: LoadedMessage & { kind: "log" }): void {
  const level: LogLevel = line.level;
  run.log[level](line.fields ?? {}, line.message);
  const fields = line.fields?.["fields"] as object | string | undefined;
  if (line.isHandlers && run.log.isLevelEnabled(level)) host.tailOf(run).line(level, line.message, fields);
}
