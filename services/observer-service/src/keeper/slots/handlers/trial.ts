import type { ErrorText } from "@unacked/contracts";
import { asError } from "../../../error-text.ts";
import type { HandledRun } from "../../runs/handlers.ts";
import type { Blame } from "../blame/blame.ts";
import type { Placed, Reason } from "../placement/placed.ts";
import type { SlotEnd } from "../process/slot-process.ts";
import { endText, type Slot } from "../slot.ts";
import type { NotedDeath } from "../slot-history.ts";
import { deathOf } from "./slot-death.ts";

export interface DeadSlot {
  readonly slot: Slot;
  readonly end: SlotEnd;
  /** The runs that were in it. */
  readonly placed: readonly Placed[];
  readonly reason: Reason | undefined;
}

export interface Judgement {
  /** The runs whose attempts fail by it; all others are interrupted. */
  readonly failed: ReadonlyMap<HandledRun, Error>;
  /** The run that did it, or for whose stop the slot was ended. */
  readonly culprits: readonly HandledRun[];
  /** Undefined if the slot was not needed any more. */
  readonly death: NotedDeath | undefined;
}

/** Decides who is to blame for the end of a slot, as far as that is known now. Suspicion is kept in `blame`. */
export function judgeDeath(dead: DeadSlot, blame: Blame): Judgement {
  const { slot, end, placed, reason } = dead;
  const failed = failedBy(dead, blame);
  const [culprit] = [...failed].map(([{ start, toldAs }, error]) => ({ ...start, task: toldAs, error }));
  const settled = reason?.kind === "culprit" && culprit === undefined ? reason.error : undefined;
  const endedFor = reason?.kind === "ended-for" ? ofRun(placed, reason.runId) : undefined;
  const death = deathOf({
    slot,
    end,
    culprit,
    settledCulprit: settled,
    endedFor: endedFor?.run.start,
    observers: placed.map(({ run }) => run.start),
    recycled: reason?.kind === "recycled" ? reason.why : undefined,
    wasDissolved: reason?.kind === "dissolved",
    isFrozen: reason?.kind === "frozen",
    lastWord: reason?.kind === "last-word" ? reason.error : undefined,
    nobodysError: reason?.kind === "nobodys-error" ? reason.error : undefined,
    allToldToStop: allToldToStop(dead),
    doSoByThemselves: endedItself(dead) && blame.happensByItself("ended"),
    areSuspects: placed.some(({ run }) => blame.isSuspect(run.start.observerId)),
  });
  return { failed, culprits: [...failed.keys(), ...(endedFor === undefined ? [] : [endedFor.run])], death };
}

/** Reasons for which no attempt fails. */
const NOBODYS: ReadonlySet<Reason["kind"]> = new Set(["ended-for", "recycled", "dissolved", "frozen"]);

const ofRun = (placed: readonly Placed[], runId: string) => placed.find(({ run }) => run.runId === runId);

/** Whether nobody did anything: the slot was not needed, and the runs still in it had been told to end. */
const allToldToStop = ({ slot, placed, reason }: DeadSlot): boolean =>
  slot.process.isKilled && reason === undefined && placed.every(({ cause }) => cause);

/** Whether it ended by itself, and neither we nor somebody outside did it. */
const endedItself = ({ slot, end }: DeadSlot): boolean =>
  slot.lastWord !== undefined || (!slot.process.isKilled && end.signal !== "SIGKILL");

function failedBy(dead: DeadSlot, blame: Blame): Map<HandledRun, Error> {
  const { end, placed, reason } = dead;
  const nobody = new Map<HandledRun, Error>();
  // A handler that was told to end has no attempt to fail: its end is reported by that cause.
  if (reason !== undefined && NOBODYS.has(reason.kind)) return nobody;
  if (allToldToStop(dead)) return nobody;
  if (reason?.kind === "nobodys-error") return failedByUnowned(dead, reason, blame);
  if (reason?.kind === "culprit") {
    const named = ofRun(placed, reason.runId);
    if (named === undefined) return nobody; // the run has settled in the last moment
    blame.convict(named.run.start.observerId);
    return new Map([[named.run, reason.error]]);
  }
  const [first] = placed;
  const hasEndedItself = endedItself(dead);
  if (first === undefined) {
    if (hasEndedItself && dead.slot.isLoaded && !dead.slot.hasRun) blame.noteByItself("ended");
    return nobody;
  }
  const observers = placed.map(({ run }) => run.start.observerId);
  const verdict = hasEndedItself ? blame.noteEnded(observers) : blame.suspect(observers);
  if (verdict?.kind !== "guilty") return nobody;
  return new Map([[first.run, aloneWhenItEnded(end, reason?.kind === "last-word" ? reason.error : undefined)]]);
}

/**
 * A single error that belongs to no handler and no file, or a file that blocks its slot by itself, says nothing about the runs there: what
 * files do by themselves they do in every slot, and something from outside may end several at once. A run that does it may do it again and
 * again, and each time end all that run beside it, so runs that are there each time are searched.
 */
function failedByUnowned(
  { slot, end, placed }: DeadSlot,
  { what, error }: Reason & { kind: "nobodys-error" },
  blame: Blame,
): Map<HandledRun, Error> {
  const [first, ...others] = placed;
  if (first === undefined) {
    if (!slot.hasRun) blame.noteByItself(what);
    return new Map();
  }
  const observers = placed.map(({ run }) => run.start.observerId);
  if (blame.happensByItself(what)) return new Map();
  const isGuilty = others.length === 0 && blame.isGuilty(first.run.start.observerId);
  const again = isGuilty ? observers : blame.noteUnowned(what, observers);
  if (others.length > 0 || again.length === 0) return new Map();
  blame.convict(first.run.start.observerId);
  return new Map([[first.run, aloneWhenItEnded(end, error)]]);
}

function aloneWhenItEnded(end: SlotEnd, said: ErrorText | undefined): Error {
  return asError({
    name: "SlotEndedError",
    message: `the handler was alone in its slot when that ended: ${said === undefined ? endText(end) : `${said.name}: ${said.message}`}`,
    stack: said?.stack,
  });
}
