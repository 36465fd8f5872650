import type { SlotReport } from "@unacked/contracts";
import type { RunOutcome } from "@unacked/sdk";
import type { Log } from "../../../log.ts";
import type { Attempt } from "../../../wire/attempt.ts";
import type { Late } from "../../../wire/late.ts";
import type { Catalogue, Stuck } from "../../../wire/messages.ts";
import type { HandledRun, HandlerHost, Handlers, Outdated, Reload } from "../../runs/handlers.ts";
import { Blame } from "../blame/blame.ts";
import { HarmfulTypes } from "../blame/harmful-types.ts";
import { KeptSlots } from "../placement/kept-slots.ts";
import { Occupants } from "../placement/occupants.ts";
import { OldSlots } from "../placement/old-slots.ts";
import { clearTimers, type Placed } from "../placement/placed.ts";
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
import { PlacedRun } from "./placed-run.ts";
import { SlotEnds } from "./slot-ends.ts";
import { Stops } from "./stops.ts";

/**
 * Runs handlers in slots. Receives starts and aborts of the runner, the messages of slots, and their ends. Guarantees: every
 * start is answered once, by its outcome, by bad params or by an interruption; and a successor begins only when the process of
 * its predecessor has been reaped and its pipe read to its end. A slot's death changes nothing at the broker, as the messages are
 * the keeper's. A crash of the keeper ends every slot (slot/watchdog.ts).
 */
export class SlotHandlers implements Handlers, SlotsView {
  readonly #supply: SlotSupply;
  readonly #occupants = new Occupants();
  readonly #placement: Placement;
  readonly #kept: KeptSlots;
  readonly #old: OldSlots;
  readonly #messages: AttemptMessages;
  readonly #ends: SlotEnds;
  readonly #stops: Stops;
  readonly #blame: Blame;
  readonly #recycler: Recycler;
  readonly #spoilt: SpoiltSlots;
  readonly #code: LoadedCode;
  #lastAttempt = 0;
  onLate: ((late: Late) => void) | undefined;
  readonly history = new SlotHistory();

  constructor(settings: SlotSettings, log: Log) {
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
    const { stock, roster, folder } = supply;
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
        stock.retire(slot);
        this.#code.recallIn(slot);
      },
      mayEmptyOne: () => roster.mayEmptyOne,
      prepareFor: (placed) => this.#placement.prepareFor(placed),
    });
    const room = new Room({ roster, blame, occupants, recycler, stuckMs: settings.stuckMs });
    const placement = new Placement({ stock, folder, needs, occupants, failures, room });
    this.#kept = new KeptSlots({ stock, blame, needs, occupants, placement });
    this.#old = new OldSlots({ supply, needs, occupants, placement, recycler });
    this.#spoilt = new SpoiltSlots({
      ...{ log, failures, occupants, roster, recycler },
      setAside: (slot, why) => {
        stock.setAside(slot, why);
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
        if (slot.isLoaded) stock.retire(slot); // otherwise the next one has its pause
      },
    });
    const ends = new SlotEnds({ log, blame, harmful, occupants, history: this.history });
    this.#ends = ends;
    this.#stops = new Stops({ stopTimeoutMs: settings.stopTimeoutMs, blame, occupants, placement, ends });
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
    return new PlacedRun(this.#lastAttempt, host, run, this.#stops);
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
    placed.begin();
    this.#kept.begins(placed);
  }

  #placeWaiting(): void {
    for (const placed of this.#placement.takeWaiting()) this.#place(placed);
    this.#kept.takeBackIdle();
    this.#kept.letGoOfIdle();
    this.#old.makeRoom();
  }

  #over(slot: Slot, placed: Placed, outcome?: RunOutcome["outcome"]): void {
    clearTimers(placed);
    this.#occupants.remove(slot, placed);
    if (outcome !== undefined) this.#spoilt.settled(slot, placed, outcome);
    const next = placed.line?.left[0];
    if (next !== undefined) this.#stops.begins(next);
    if (this.#occupants.countIn(slot) > 0) return slot.isOld ? this.#old.makeRoom() : undefined;
    // The next run of a type that asks for slots of its own gets a fresh process.
    if (slot.isRetired || slot.isOld || slot.purpose.kind === "own") return slot.process.kill();
    this.#kept.left(slot, placed);
  }
}
