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
import type { SuspectGroup } from "../blame/suspicion.ts";
import { clearTimers, isInLine, type Placed } from "../placement/placed.ts";
import { Placement } from "../placement/placement.ts";
import { Recycler } from "../placement/recycler.ts";
import { SlotFailures } from "../placement/slot-failures.ts";
import { SpoiltSlots } from "../placement/spoilt-slots.ts";
import type { SlotEnd } from "../process/slot-process.ts";
import { isOfUse, type Slot } from "../slot.ts";
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
  readonly #placement: Placement;
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
    const hooks = {
      onMessage: (slot: Slot, message: LoadedMessage) => this.#messages.take(slot, message),
      onStuck: (slot: Slot, word: Stuck) => this.#ends.stuck(slot, word),
      onGone: (slot: Slot, end: SlotEnd) => {
        this.#ends.gone(slot, end);
        this.#placeWaiting();
      },
      onRoom: () => this.#placeWaiting(),
      onOverLimit: (slot: Slot, over: OverLimit) => this.#recycler.recycle(slot, over, this.#placement.in(slot)),
      onFrozen: (slot: Slot) => this.#ends.end(slot, { kind: "frozen" }),
    };
    const supply = new SlotSupply(settings, hooks, log);
    const blame = new Blame(log, (group) => this.#release(group));
    const harmful = new HarmfulTypes();
    const failures = new SlotFailures();
    this.#recycler = new Recycler({
      log,
      blame,
      history: this.history,
      endSlot: (slot, reason) => this.#ends.end(slot, reason),
      retire: (slot, reason) => {
        this.#ends.note(slot, reason);
        supply.retire(slot);
        this.#code.recallIn(slot);
      },
      mayEmptyOne: () => supply.roster.mayEmptyOne,
      prepareFor: (placed) => this.#placement.prepareFor(placed),
    });
    const placement = new Placement({
      supply,
      blame,
      harmful,
      failures,
      recycler: this.#recycler,
      stuckMs: settings.stuckMs,
    });
    this.#spoilt = new SpoiltSlots({
      ...{ log, failures, placement, roster: supply.roster, recycler: this.#recycler },
      setAside: (slot, why) => {
        supply.setAside(slot, why);
        this.#code.recallIn(slot);
      },
    });
    this.#messages = new AttemptMessages({
      log,
      placement,
      over: (slot, placed, outcome) => this.#over(slot, placed, outcome),
      late: (late) => this.onLate?.(late),
      ends: (slot, reason) => {
        this.#ends.note(slot, reason);
        if (slot.isLoaded) supply.retire(slot); // otherwise the next one has its pause
      },
    });
    this.#ends = new SlotEnds({ log, blame, harmful, placement, history: this.history });
    this.#code = new LoadedCode({ supply, placement, place: (placed) => this.#place(placed) });
    this.#supply = supply;
    this.#blame = blame;
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
    const { observerId } = start;
    this.#blame.acquit(observerId);
    // Its slot was kept for a next attempt, which will not come.
    for (const slot of this.#supply.roster.slots) {
      const wasItsOwn = slot.purpose.kind === "alone" && slot.purpose.observerId === observerId;
      if (wasItsOwn && isOfUse(slot) && this.#placement.loadOf(slot) === 0) this.#letGo(slot);
    }
  }

  endForCertain(runs: readonly HandledRun[]): boolean {
    for (const slot of this.#placement.slotsOf(new Set(runs))) slot.process.kill();
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
    return this.#supply.report((slot) => this.#placement.begunIn(slot).length);
  }

  /** How many observers are suspects now. */
  get suspects(): number {
    return this.#blame.suspects;
  }

  collect(): void {
    for (const { process } of this.#supply.roster.shared) process.send({ kind: "collect" });
  }

  memory(): SlotsMemory {
    return this.#supply.memory((slot) => this.#placement.leavingPart(slot));
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
    if (this.#blame.isGuilty(observerId)) this.#watchCalm(placed, placed.run.start.retry.resetAfterMs);
  }

  #tellUpdate(placed: Placed): void {
    const { slot, untold } = placed;
    if (slot === undefined || untold === undefined) return;
    placed.untold = undefined;
    slot.process.send({ kind: "update", attempt: placed.id, ...untold });
  }

  #placeWaiting(): void {
    for (const placed of this.#placement.takeWaiting()) this.#place(placed);
    for (const slot of this.#placement.idleOwn()) this.#supply.takeBack(slot);
    this.#letGoOfIdle();
    this.#placement.makeRoomOfOld();
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
        others: this.#placement.loadOf(slot) - 1,
      },
      "the handler ignores its abort: its slot is ended, and the other handlers in it begin again elsewhere",
    );
    host.onStuck(run);
    // It tries again, and may ignore its stop once more.
    if (placed.cause?.kind === "uncaught") this.#blame.keepByItself(run.start.observerId);
    this.#ends.end(slot, { kind: "ended-for", runId: run.runId });
  }

  #release(group: SuspectGroup): void {
    for (const slot of this.#supply.roster.slots)
      if (slot.purpose.kind === "suspects" && slot.purpose.group === group) this.#letGo(slot);
  }

  /** The slot is no longer kept for anybody: it is shared, or goes. Runs in it go on, and their type may ask for slots of its own. */
  #letGo(slot: Slot): void {
    const own = this.#placement.ownIn(slot);
    if (own === undefined) this.#supply.release(slot, this.#placement.loadOf(slot) === 0);
    else slot.purpose = own;
  }

  /** A suspect still gets a slot again when it starts. */
  #letGoOfIdle(): void {
    for (const slot of this.#placement.idleSuspected()) this.#letGo(slot);
  }

  /** Once it has been well for long enough, it may run among others again the next time that it starts. */
  #watchCalm(placed: Placed, afterMs: number): void {
    placed.calmTimer = setTimeout(() => {
      this.#blame.acquit(placed.run.start.observerId);
      if (placed.slot !== undefined) this.#letGo(placed.slot);
    }, afterMs);
    placed.calmTimer.unref();
  }

  #over(slot: Slot, placed: Placed, outcome?: RunOutcome["outcome"]): void {
    clearTimers(placed);
    this.#placement.remove(slot, placed);
    if (outcome !== undefined) this.#spoilt.settled(slot, placed, outcome);
    const next = placed.line?.left[0];
    if (next?.stopTimer !== undefined) this.#limitStop(next); // it has had no time yet to hear of its stop
    if (this.#placement.loadOf(slot) > 0) return slot.isOld ? this.#placement.makeRoomOfOld() : undefined;
    // The next run of a type that asks for slots of its own gets a fresh process.
    if (slot.isRetired || slot.isOld || slot.purpose.kind === "own") return slot.process.kill();
    const { cause, run } = placed;
    if (slot.purpose.kind === "suspects") return this.#letGoOfIdle();
    if (slot.purpose.kind === "alone" && run.taskAttempt !== undefined) return this.#letGo(slot); // its next attempt may be elsewhere
    if (slot.purpose.kind !== "alone" || cause === undefined || cause.kind === "uncaught") return;
    // It is stopped for good, or on its way elsewhere, so it is no longer kept alone here.
    this.#blame.acquit(placed.run.start.observerId);
    this.#letGo(slot);
  }
}
