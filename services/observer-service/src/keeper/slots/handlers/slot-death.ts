import type { ObserverId } from "@unacked/contracts";
import type { HandledRun } from "../../runs/handlers.ts";
import type { SlotEnd } from "../process/slot-process.ts";
import { endText, type Slot } from "../slot.ts";
import type { NotedDeath } from "../slot-history.ts";

interface Observed {
  readonly observerId: ObserverId;
  readonly name: string;
}

/** What is known about a slot that has died. */
export interface DeathFacts {
  readonly slot: Slot;
  readonly end: SlotEnd;
  /** The observers that it ran. */
  readonly observers: readonly Observed[];
  /** The culprit, and the error with which its attempt fails. */
  readonly culprit: (Observed & { task?: HandledRun["toldAs"]; error: Error }) | undefined;
  /** The error of a culprit that had settled when the slot ended. */
  readonly settledCulprit: Error | undefined;
  /** The observer that ignored its stop, if the slot was ended for that. */
  readonly endedFor: Observed | undefined;
  /** In words, that it took too much memory. */
  readonly recycled: string | undefined;
  readonly isFrozen: boolean;
  readonly wasDissolved: boolean;
  /** The error for which it ended itself, and which belongs to no observer. */
  readonly nobodysError: { name: string; message: string } | undefined;
  /** What is known about its end, which does not say who caused it. */
  readonly lastWord: { name: string; message: string } | undefined;
  /** Whether everybody in it had been told to stop. */
  readonly allToldToStop: boolean;
  /** Whether nobody is named, and slots in which nothing has run end by themselves, too. */
  readonly doSoByThemselves: boolean;
  /** Whether its observers are suspects from now on. */
  readonly areSuspects: boolean;
}

/** Why it died, for people. Undefined if it was not needed any more, which does not count as a death. */
export function deathOf(facts: DeathFacts): NotedDeath | undefined {
  const { slot, end, observers } = facts;
  const why = whyOf(facts);
  if (why === undefined) return undefined;
  const { pid } = slot.process;
  return { pid, purpose: slot.purpose.kind, end: endText(end), runs: observers.length, ...why };
}

function whyOf(facts: DeathFacts): Pick<NotedDeath, "reason" | "why" | "culprit" | "culpritTask"> | undefined {
  const { slot, observers, culprit, settledCulprit, endedFor, lastWord } = facts;
  const said = lastWord && `${lastWord.name}: ${lastWord.message}`;
  if (culprit !== undefined) {
    const { observerId: id, name, task, error } = culprit;
    const who = task === undefined ? { culprit: { id, name } } : { culpritTask: task };
    return { reason: "culprit", why: `${name} did it: ${error.name}: ${error.message}`, ...who };
  }
  if (settledCulprit !== undefined) {
    const { name, message } = settledCulprit;
    return { reason: "other", why: `one that has settled since did it: ${name}: ${message}` };
  }
  if (endedFor !== undefined) return { reason: "stop", why: `ended for a stop that ${endedFor.name} ignored` };
  if (observers.length === 0 && slot.process.isKilled && slot.spoilt !== undefined)
    return { reason: "other", why: slot.spoilt };
  if (facts.wasDissolved) return undefined;
  if (facts.recycled !== undefined) return { reason: "recycled", why: facts.recycled };
  if (facts.isFrozen)
    return { reason: "other", why: "it was frozen from outside: neither its threads nor its observers did anything" };
  if (facts.nobodysError !== undefined) {
    const { name, message } = facts.nobodysError;
    return { reason: "other", why: `an error that belongs to no observer: ${name}: ${message}` };
  }
  if (observers.length === 0) {
    if (slot.process.isKilled) return undefined;
    return { reason: "other", why: said ?? (slot.isLoaded ? "nothing ran in it" : "it had not loaded its observers yet") };
  }
  if (facts.allToldToStop) return { reason: "stop", why: "all that ran in it had been told to stop" };
  const told = said === undefined ? "" : `; it said ${said}`;
  if (facts.doSoByThemselves)
    return { reason: "other", why: `nobody is blamed: slots in which nothing has run end by themselves, too${told}` };
  const found = facts.areSuspects ? `${observers.length} suspects` : "the search has been given up";
  return { reason: "unnamed", why: `nobody can be named: ${found}${told}` };
}
