import { asError } from "../../../error-text.ts";
import type { Log } from "../../../log.ts";
import type { Stuck } from "../../../wire/messages.ts";
import type { HandledRun } from "../../runs/handlers.ts";
import type { Blame } from "../blame/blame.ts";
import type { HarmfulTypes } from "../blame/harmful-types.ts";
import { ownFrames } from "../blame/told-stack.ts";
import type { Occupants } from "../placement/occupants.ts";
import { clearTimers, isInLine, type Placed, type Reason } from "../placement/placed.ts";
import type { SlotEnd } from "../process/slot-process.ts";
import { endText, type Slot } from "../slot.ts";
import type { NotedDeath, SlotHistory } from "../slot-history.ts";
import { type DeadSlot, judgeDeath } from "./trial.ts";

export interface SlotEndsParts {
  readonly log: Log;
  readonly blame: Blame;
  readonly harmful: HarmfulTypes;
  readonly occupants: Pick<Occupants, "in" | "removeAll">;
  readonly history: SlotHistory;
}

/**
 * The ends of slots. Receives reasons to end one, and the news that one is gone. Guarantees: each handler that was in it fails its
 * attempt or is interrupted, once, when the slot's process has been reaped; the reason is kept if it is known.
 */
export class SlotEnds {
  readonly #parts: SlotEndsParts;
  readonly #reasons = new Map<Slot, Reason>();

  constructor(parts: SlotEndsParts) {
    this.#parts = parts;
  }

  /** Notes the reason for an end that is to come. */
  note(slot: Slot, reason: Reason): void {
    this.#reasons.set(slot, reason);
  }

  /**
   * Ends the slot now. The first reason stands, unless it only announced an end: a run that does worse meanwhile is named.
   */
  end(slot: Slot, reason: Reason): void {
    const noted = this.#reasons.get(slot);
    const isWorse = reason.kind === "culprit" && (noted?.kind === "recycled" || noted?.kind === "dissolved");
    if (noted === undefined || isWorse) this.note(slot, reason);
    slot.process.kill();
  }

  /** The slot's event loop does not turn. */
  stuck(slot: Slot, word: Stuck): void {
    const { forMs, runId, stack } = word;
    const { log, occupants, history } = this.#parts;
    history.noteStuck();
    if (runId === undefined) return this.#stuckInNoRun(slot, word);
    const placed = occupants.in(slot).find(({ run }) => run.runId === runId);
    const fields = { event: "slot-stuck", slot: slot.process.pid, forMs, stack };
    if (placed === undefined)
      log.error({ ...fields, runId }, "something that an ended run left behind blocks its slot: all runs in it begin again");
    else
      placed.run.log.error(
        fields,
        "the handler blocks its slot: it is ended, and the other handlers in it begin again elsewhere",
      );
    const error = asError({
      name: "HandlerBlockedError",
      message: `the handler has blocked the event loop of its slot for ${Math.round(forMs)} ms`,
      stack: stack && ownFrames(stack),
    });
    this.end(slot, { kind: "culprit", runId, error });
  }

  /**
   * What a file does by itself it does in every slot. Yet a run may have the file's own timers and sockets do it, and be there each time.
   */
  #stuckInNoRun(slot: Slot, { forMs, file, isUsed = slot.hasRun, stack }: Stuck): void {
    const { log, blame } = this.#parts;
    if (!isUsed) blame.noteByItself("blocked");
    const fields = { event: "slot-stuck", slot: slot.process.pid, forMs, file, stack };
    if (file === undefined && !blame.happensByItself("blocked")) {
      log.error(fields, "a slot's event loop is blocked, and it is not known by which handler: all of them are suspects");
      return slot.process.kill();
    }
    log.error(fields, "a slot's event loop is blocked, but not by a run of an observer: all runs in it begin again");
    const who = file ?? "what files of observers do by themselves";
    const message = `${who} has blocked the event loop of its slot for ${Math.round(forMs)} ms, in no observer's run`;
    const error = { name: "FileBlocksError", message, stack: stack && ownFrames(stack) };
    this.end(slot, { kind: "nobodys-error", what: "blocked", error });
  }

  gone(slot: Slot, end: SlotEnd): void {
    const { blame, occupants, history } = this.#parts;
    const { lastWord } = slot;
    const reason = this.#reasons.get(slot) ?? (lastWord && { kind: "last-word" as const, error: lastWord });
    const all = occupants.removeAll(slot);
    // A run that is named has begun, though the end of the one before it may not have been read.
    const hasBegun = (one: Placed) => !isInLine(one) || (reason?.kind === "culprit" && one.run.runId === reason.runId);
    const inLine = all.filter((one) => !hasBegun(one));
    const dead = { slot, end, placed: all.filter(hasBegun), reason };
    this.#reasons.delete(slot);
    for (const one of all) clearTimers(one);
    const { failed, culprits, death } = judgeDeath(dead, blame);
    for (const culprit of culprits) this.#noteType(slot, culprit);
    if (death !== undefined) history.note(death);
    this.#log(dead, death);
    const detail = `its slot ended (${endText(end)})${death === undefined ? "" : `: ${death.why}`}`;
    // These come first: runs that begin again below take those that wait behind them along.
    for (const { run, host } of inLine) host.onNotBegun?.(run);
    for (const { run, host } of dead.placed) {
      const error = failed.get(run);
      if (error !== undefined) host.onSettled(run, { outcome: "failed", error });
      else host.onInterrupted(run, { detail });
    }
  }

  /** Slots that a type asked for, and those of a guilty run, are nobody else's, so they do not count. */
  #noteType({ purpose }: Slot, { start: { type, observerId }, taskAttempt }: HandledRun): void {
    const { harmful, log } = this.#parts;
    if (taskAttempt === undefined) return;
    const wasAmongOthers = purpose.kind === "shared" || purpose.kind === "suspects" || harmful.has(type);
    if (!wasAmongOthers || !harmful.note(type, observerId)) return;
    log.warn(
      { event: "task-type-apart", type },
      "three tasks of this type have ended slots within 10 minutes: those that begin now share a slot of their own, where there is room for it",
    );
  }

  #log({ slot, end, placed }: DeadSlot, death: NotedDeath | undefined): void {
    const { log } = this.#parts;
    const names = placed.slice(0, 20).map(({ run }) => run.start.name);
    const about = { event: "slot-gone", slot: slot.process.pid, end: endText(end), purpose: slot.purpose.kind };
    const fields = { ...about, why: death?.why };
    if (death === undefined) log.debug(fields, "a slot that was not needed any more has ended");
    else log.warn({ ...fields, handlers: placed.length, names }, "a slot has ended");
  }
}
