import type { SlotReport } from "@unacked/contracts";
import type { RunOutcome } from "@unacked/sdk";
import type { Log } from "../../../log.ts";
import type { Attempt } from "../../../wire/attempt.ts";
import type { Late } from "../../../wire/late.ts";
import type { Catalogue, Stuck } from "../../../wire/messages.ts";
import type { StopCause } from "../../../wire/stop-cause.ts";
import type { HandledRun, HandlerHost, Handlers, Outdated, Reload } from "../../runs/handlers.ts";
import { Blame } from "../blame/blame.ts";
import { HarmfulTypes } from "../blame/harmful-types.ts";
import { KeptSlots } from "../placement/kept-slots.ts";
import { Occupants } from "../placement/occupants.ts";
import { OldSlots } from "../placement/old-slots.ts";
import { clearTimers, isInLine, type Placed } from "../placement/placed.ts";
import { Placement } from "../placement/placement.ts";
import { Recycler } from "../placement/recycler.ts";
import { Room } from "../placement/room.ts";
import { SlotFailures } from "../placement/slot-failures.ts";
import { SlotNeeds } from "../placement/slot-needs.ts";
import { SpoiltSlots } from "../placement/spoilt-slots.ts";
import type { SlotEnd } from "../process/slot-process.ts";
import type { Slot } from "../slot.ts";
import { SlotHistory, type SlotsMemory, type SlotsView } from "../slot-history.ts";
import type { OverLimit } from "../slot-memory.ts";
import { type LoadedMessage, type SlotSettings, SlotSupply } from "../supply/slot-supply.ts";
import { AttemptMessages } from "./attempt-messages.ts";
import { LoadedCode } from "./loaded-code.ts";
import { SlotEnds } from "./slot-ends.ts";

/**
 * Runs handlers in slots. Receives starts and aborts of the runner, the messages of slots, and their ends. Guarantees: every
 * start is answered once, by its outcome, by bad params or by an interruption; and a successor begins only when the process of
 * its predecessor has been reaped and its pipe read to its end. A slot's death changes nothing at the broker, as the messages are
 * the keeper's. A crash of the keeper ends every slot (slot/watchdog.ts).
 */
export class SlotHandlers implements Handlers, SlotsView {
  readonly #supply: SlotSupply;
  readonly #stopTimeoutMs: number;
  readonly #occupants = new Occupants();
  readonly #placement: Placement;
  readonly #kept: KeptSlots;
  readonly #old: OldSlots;
  readonly #messages: AttemptMessages;
  readonly #ends: SlotEnds;
  readonly #blame: Blame;
  readonly #recycler: Recycler;
  readonly #spoilt: SpoiltSlots;
  readonly #code: LoadedCode;
  #lastAttempt = 0;
  onLate: ((late: Late) => void) | undefined;
  readonly history = new SlotHistory();

  constructor(settings: SlotSettings, log: Log) {
    this.#stopTimeoutMs = settings.stopTimeoutMs;
    const occupants = this.#occupants;
    const failures = new SlotFailures();
    const hooks = {
      onMessage: (slot: Slot, message: LoadedMessage) => this.#messages.take(slot, message),
      onStuck: (slot: Slot, word: Stuck) => this.#ends.stuck(slot, word),
      onGone: (slot: Slot, end: SlotEnd) => {
        failures.forget(slot);
        this.#ends.gone(slot, end);
        this.#placeWaiting();
      },
      onRoom: () => this.#placeWaiting(),
      onOverLimit: (slot: Slot, over: OverLimit) => this.#recycler.recycle(slot, over, occupants.in(slot)),
      onFrozen: (slot: Slot) => this.#ends.end(slot, { kind: "frozen" }),
    };
    const supply = new SlotSupply(settings, hooks, log);
    const { roster } = supply;
    const blame = new Blame(log, (group) => this.#kept.release(group));
    const harmful = new HarmfulTypes();
    const needs = new SlotNeeds(blame, harmful);
    const recycler = new Recycler({
      log,
      blame,
      history: this.history,
      endSlot: (slot, reason) => this.#ends.end(slot, reason),
      retire: (slot, reason) => {
        this.#ends.note(slot, reason);
        supply.retire(slot);
        this.#code.recallIn(slot);
      },
      mayEmptyOne: () => roster.mayEmptyOne,
      prepareFor: (placed) => this.#placement.prepareFor(placed),
    });
    const room = new Room({ roster, blame, occupants, recycler, stuckMs: settings.stuckMs });
    const placement = new Placement({ supply, needs, occupants, failures, room });
    this.#kept = new KeptSlots({ supply, blame, needs, occupants, placement });
    this.#old = new OldSlots({ supply, needs, occupants, placement, recycler });
    this.#spoilt = new SpoiltSlots({
      ...{ log, failures, occupants, roster, recycler },
      setAside: (slot, why) => {
        supply.setAside(slot, why);
        this.#code.recallIn(slot);
      },
    });
    this.#messages = new AttemptMessages({
      log,
      occupants,
      over: (slot, placed, outcome) => this.#over(slot, placed, outcome),
      late: (late) => this.onLate?.(late),
      ends: (slot, reason) => {
        this.#ends.note(slot, reason);
        if (slot.isLoaded) supply.retire(slot); // otherwise the next one has its pause
      },
    });
    this.#ends = new SlotEnds({ log, blame, harmful, occupants, history: this.history });
    this.#code = new LoadedCode({ supply, needs, occupants, placement, place: (placed) => this.#place(placed) });
    this.#supply = supply;
    this.#blame = blame;
    this.#recycler = recycler;
    this.#placement = placement;
  }

  /** Resolves when the slots have loaded the folder. @throws SlotsNotLoadedError */
  async open(): Promise<void> {
    this.#code.learn(await this.#supply.open());
  }

  reload(): Promise<Reload> {
    return this.#code.reload();
  }

  outdated(isPatient: boolean): Outdated[] {
    return this.#code.outdated(isPatient);
  }

  get catalogue(): Catalogue {
    return this.#code.catalogue;
  }

  /** The slot checks them, as a schema is the author's code, too. */
  checkParams(): undefined {
    return undefined;
  }

  noRoomFor({ start }: HandledRun): string | undefined {
    return this.#placement.noRoomFor(start);
  }

  noSlotFor({ start }: HandledRun): string | undefined {
    return this.#placement.noSlotFor(start);
  }

  start(host: HandlerHost, run: HandledRun): Attempt {
    const placed = this.#newPlaced(host, run);
    this.#place(placed);
    return placed;
  }

  startBehind(host: HandlerHost, run: HandledRun, other: Attempt): Attempt | undefined {
    const placed = this.#newPlaced(host, run);
    if (!this.#placement.placeBehind(placed, other as Placed)) return undefined;
    this.#begin(placed);
    return placed;
  }

  #newPlaced(host: HandlerHost, run: HandledRun): Placed {
    this.#lastAttempt += 1;
    const placed: Placed = {
      id: this.#lastAttempt,
      run,
      host,
      slot: undefined,
      beganMs: 0,
      awaits: undefined,
      cause: undefined,
      isOver: false,
      stopTimer: undefined,
      calmTimer: undefined,
      abort: (cause) => this.#abort(placed, cause),
      update: (word) => {
        placed.untold = word;
        this.#tellUpdate(placed);
      },
      abortMember: (taskId, cause) => placed.slot?.process.send({ kind: "abort-member", attempt: placed.id, taskId, cause }),
      recall: () => placed.slot?.process.send({ kind: "recall", attempt: placed.id }),
    };
    return placed;
  }

  keepAlone({ start }: HandledRun): void {
    this.#blame.convict(start.observerId);
  }

  forget({ start }: HandledRun): void {
    this.#kept.forget(start.observerId);
  }

  endForCertain(runs: readonly HandledRun[]): boolean {
    for (const slot of this.#occupants.slotsOf(new Set(runs))) slot.process.kill();
    return true;
  }

  leaseHeldUntil(deadlineMs: number | undefined, graceMs: number): void {
    if (deadlineMs === undefined) return this.#supply.tellLease({ deadlineNs: null, graceMs });
    const leftNs = BigInt(Math.round((deadlineMs - performance.now()) * 1e6));
    this.#supply.tellLease({ deadlineNs: String(process.hrtime.bigint() + leftNs), graceMs });
  }

  holdSilence(isHeld: boolean): void {
    this.#supply.holdSilence(isHeld);
  }

  slots(): SlotReport[] {
    return this.#supply.report((slot) => this.#occupants.begunIn(slot).length);
  }

  /** How many observers are suspects now. */
  get suspects(): number {
    return this.#blame.suspects;
  }

  collect(): void {
    for (const { process } of this.#supply.roster.shared) process.send({ kind: "collect" });
  }

  memory(): SlotsMemory {
    return this.#supply.memory((slot) => this.#old.leavingPart(slot));
  }

  close(limitMs: number): Promise<void> {
    return this.#supply.close(limitMs);
  }

  #place(placed: Placed): void {
    if (placed.isOver || this.#placement.place(placed) === undefined) return;
    this.#begin(placed);
    placed.host.onPlaced?.(placed.run);
  }

  #begin(placed: Placed): void {
    const { observerId, name, type, labels, params, silence } = placed.run.start;
    const { runId, trace, taskAttempt, inputs, members, epoch, checkpoint } = placed.run;
    const { line } = placed;
    const traceContext = trace?.start?.context;
    placed.slot?.process.send({
      kind: "begin",
      attempt: placed.id,
      runId,
      observerId,
      name,
      type,
      labels,
      params,
      taskAttempt,
      ...(silence && { silence }),
      ...(epoch !== undefined && { epoch }),
      ...(checkpoint !== undefined && { checkpoint }),
      ...(inputs !== undefined && { inputs }),
      ...(members !== undefined && { members }),
      ...(line !== undefined && { line: line.id }),
      traceContext,
    });
    this.#tellUpdate(placed);
    this.#kept.begins(placed);
  }

  #tellUpdate(placed: Placed): void {
    const { slot, untold } = placed;
    if (slot === undefined || untold === undefined) return;
    placed.untold = undefined;
    slot.process.send({ kind: "update", attempt: placed.id, ...untold });
  }

  #placeWaiting(): void {
    for (const placed of this.#placement.takeWaiting()) this.#place(placed);
    this.#kept.takeBackIdle();
    this.#kept.letGoOfIdle();
    this.#old.makeRoom();
  }

  #abort(placed: Placed, cause: StopCause): void {
    // While the end of a slot is reported to each run in it, one may end others that are not reported yet.
    if (placed.isOver) return;
    placed.cause = cause;
    const { slot, host, run } = placed;
    if (slot === undefined) {
      placed.isOver = true;
      this.#placement.waitNoMore(placed);
      // It settles a turn later, as the runner is in the middle of a call to us.
      return void setImmediate(() => host.onSettled(run, { outcome: "stopped" }));
    }
    slot.process.send({ kind: "abort", attempt: placed.id, cause });
    if (placed.stopTimer === undefined) this.#limitStop(placed);
  }

  #limitStop(placed: Placed): void {
    clearTimeout(placed.stopTimer);
    placed.stopTimer = setTimeout(() => this.#endFor(placed), this.#stopTimeoutMs);
  }

  /** A stop always ends, either with the handler or with its slot. */
  #endFor(placed: Placed): void {
    const { slot, run, host } = placed;
    if (slot === undefined) return;
    // It has not begun: another run holds up its slot, and is found by its own signs.
    if (isInLine(placed)) return this.#limitStop(placed);
    run.log.error(
      {
        event: "slot-ended-for-stop",
        slot: slot.process.pid,
        forMs: this.#stopTimeoutMs,
        others: this.#occupants.countIn(slot) - 1,
      },
      "the handler ignores its abort: its slot is ended, and the other handlers in it begin again elsewhere",
    );
    host.onStuck(run);
    // It tries again, and may ignore its stop once more.
    if (placed.cause?.kind === "uncaught") this.#blame.keepByItself(run.start.observerId);
    this.#ends.end(slot, { kind: "ended-for", runId: run.runId });
  }

  #over(slot: Slot, placed: Placed, outcome?: RunOutcome["outcome"]): void {
    clearTimers(placed);
    this.#occupants.remove(slot, placed);
    if (outcome !== undefined) this.#spoilt.settled(slot, placed, outcome);
    const next = placed.line?.left[0];
    if (next?.stopTimer !== undefined) this.#limitStop(next); // it has had no time yet to hear of its stop
    if (this.#occupants.countIn(slot) > 0) return slot.isOld ? this.#old.makeRoom() : undefined;
    // The next run of a type that asks for slots of its own gets a fresh process.
    if (slot.isRetired || slot.isOld || slot.purpose.kind === "own") return slot.process.kill();
    this.#kept.left(slot, placed);
  }
}
