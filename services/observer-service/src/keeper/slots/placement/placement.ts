import type { Isolation } from "@unacked/sdk";
import type { HandledRun } from "../../runs/handlers.ts";
import type { Blame } from "../blame/blame.ts";
import type { HarmfulTypes } from "../blame/harmful-types.ts";
import { isOfUse, isShared, type OwnPurpose, type Purpose, type Slot, suits } from "../slot.ts";
import type { SlotSupply } from "../supply/slot-supply.ts";
import { isInLine, type Placed } from "./placed.ts";
import type { Recycler } from "./recycler.ts";
import type { SlotFailures } from "./slot-failures.ts";

/** The slowest culprit blocks its slot, is watched for STUCK_MS, and does not answer. */
const CALM_MS = 8_000;
/** The slots for runs that need none of their own, and for suspects who get none. */
const EVERYBODYS: ReadonlySet<Purpose["kind"]> = new Set(["shared"]);
const OF_SUSPECTS: ReadonlySet<Purpose["kind"]> = new Set(["shared", "suspects"]);

type StartedAs = Pick<HandledRun["start"], "observerId" | "type">;

export interface PlacementParts {
  readonly supply: SlotSupply;
  readonly blame: Blame;
  readonly harmful: HarmfulTypes;
  readonly failures: SlotFailures;
  readonly recycler: Recycler;
  readonly stuckMs: number;
}

/**
 * Decides which handler runs in which slot, and which waits for one. A shared slot is the least loaded. Kept apart from the
 * others are suspects, guilty ones, those of a type that asks for it, and tasks of a harmful type.
 */
export class Placement {
  readonly #parts: PlacementParts;
  readonly #calmAfterMs: number;
  readonly #placedIn = new Map<Slot, Map<number, Placed>>();
  #waiting: Placed[] = [];
  /** When each slot last got a run: of slots with the same load the one whose turn is longest ago is next. */
  readonly #lastTurns = new WeakMap<Slot, number>();
  #turns = 0;
  readonly #isolation = new Map<string, Isolation>();

  constructor(parts: PlacementParts) {
    this.#parts = parts;
    this.#calmAfterMs = CALM_MS + 2 * parts.stuckMs;
  }

  /** Takes the types' wishes for slots of their own. */
  isolate(wishes: readonly ({ type: string } & Isolation)[]): void {
    this.#isolation.clear();
    for (const { type, ...wish } of wishes) this.#isolation.set(type, wish);
  }

  in(slot: Slot): Placed[] {
    return [...(this.#placedIn.get(slot)?.values() ?? [])];
  }

  /** The runs in a slot without those that wait behind others. */
  begunIn(slot: Slot): Placed[] {
    return this.in(slot).filter((placed) => !isInLine(placed));
  }

  find(slot: Slot, attempt: number): Placed | undefined {
    return this.#placedIn.get(slot)?.get(attempt);
  }

  loadOf(slot: Slot): number {
    return this.#placedIn.get(slot)?.size ?? 0;
  }

  /** Slots of a type's own that no run is in, or waits for. */
  idleOwn(): Slot[] {
    const isAwaited = (slot: Slot) => this.#waiting.some(({ awaits }) => awaits === slot);
    return [...this.#parts.supply.roster.slots].filter(
      (slot) => slot.purpose.kind === "own" && slot.isLoaded && isOfUse(slot) && this.loadOf(slot) === 0 && !isAwaited(slot),
    );
  }

  /** Slots of suspects of whom none runs or waits any more. If one of them still runs elsewhere, the slot is kept for it. */
  idleSuspected(): Slot[] {
    const { supply, blame } = this.#parts;
    const idle = supply.roster.suspected.filter((slot) => slot.isLoaded && this.loadOf(slot) === 0);
    if (idle.length === 0) return [];
    const all = [...[...this.#placedIn.keys()].flatMap((slot) => this.in(slot)), ...this.#waiting];
    const wanted = new Set(all.map(({ run }) => blame.groupOf(run.start.observerId)));
    return idle.filter(({ purpose }) => purpose.kind === "suspects" && !wanted.has(purpose.group));
  }

  /**
   * The slot that a run in it asks for by its type. Undefined if all in it may live among all others, as those of a harmful type may if
   * need be: innocents are among them.
   */
  ownIn(slot: Slot): OwnPurpose | undefined {
    const asking = this.in(slot).find(({ run }) => this.#asksForOwn(run.start.type));
    return asking && this.#ownOf(asking.run.start.type);
  }

  /** The slots of these runs. */
  slotsOf(runs: ReadonlySet<HandledRun>): Slot[] {
    return [...this.#placedIn.keys()].filter((slot) => this.in(slot).some(({ run }) => runs.has(run)));
  }

  /** @returns its slot; undefined: it waits until one has loaded, or may be started */
  place(placed: Placed): Slot | undefined {
    const slot = this.#slotFor(placed.run.start);
    placed.awaits = slot;
    if (slot === undefined || !slot.isLoaded) return void this.#waiting.push(placed);
    this.#put(placed, slot);
    return slot;
  }

  /** Puts it behind another run, if that is in a shared slot, and this one may be, too. @returns whether it is there */
  placeBehind(placed: Placed, other: Placed): boolean {
    const { slot } = other;
    const { start } = placed.run;
    if (slot === undefined || other.isOver) return false;
    if (!isShared(slot) || !mayTake(slot, start) || this.#purposeOf(start) !== undefined) return false;
    if (this.#parts.failures.hasFailedIn(slot, start.observerId)) return false;
    other.line ??= { id: other.id, left: [other] };
    other.line.left.push(placed);
    placed.line = other.line;
    this.#put(placed, slot);
    return true;
  }

  #put(placed: Placed, slot: Slot): void {
    const { observerId } = placed.run.start;
    placed.slot = slot;
    placed.beganMs = performance.now();
    this.#turns += 1;
    this.#lastTurns.set(slot, this.#turns);
    slot.onlyObserver = slot.hasRun && slot.onlyObserver !== observerId ? undefined : observerId;
    slot.hasRun = true;
    const inSlot = this.#placedIn.get(slot) ?? new Map<number, Placed>();
    this.#placedIn.set(slot, inSlot.set(placed.id, placed));
  }

  /** Whether a run of this observer would begin at once, and whether it needs a slot that is not shared. */
  readinessFor(start: StartedAs): { isReady: boolean; isApart: boolean } {
    const { supply } = this.#parts;
    const purpose = this.#purposeOf(start);
    if (purpose === undefined) return { isReady: supply.roster.shared.some((slot) => mayTake(slot, start)), isApart: false };
    const existing = supply.roster.existing(purpose, (slot) => this.#isFull(slot));
    return { isReady: existing?.isLoaded ?? supply.roster.hasWarmSpareFor(purpose), isApart: true };
  }

  /** Starts the slots that these will need. @returns whether they have all loaded */
  prepareFor(placed: readonly Placed[]): () => boolean {
    const needed = new Set<Slot>();
    for (const { run } of placed) {
      const purpose = this.#purposeOf(run.start);
      const slot = purpose?.kind === "suspects" ? this.#parts.supply.slotFor(purpose) : undefined;
      if (slot !== undefined) needed.add(slot);
    }
    return () => [...needed].every(({ isLoaded, process }) => isLoaded || process.isKilled);
  }

  /** Takes out the waiting runs, which then wait no more. */
  takeWaiting(): Placed[] {
    return this.#waiting.splice(0);
  }

  waitNoMore(placed: Placed): void {
    this.#waiting = this.#waiting.filter((one) => one !== placed);
  }

  remove(slot: Slot, placed: Placed): void {
    placed.isOver = true;
    this.#placedIn.get(slot)?.delete(placed.id);
    const { line } = placed;
    if (line === undefined) return;
    const place = line.left.indexOf(placed);
    line.left.splice(place, 1);
    const [next] = line.left;
    if (place === 0 && next !== undefined) next.beganMs = performance.now();
  }

  /** The slot is gone. @returns the runs that were in it */
  removeAll(slot: Slot): Placed[] {
    this.#parts.failures.forget(slot);
    const placed = this.in(slot);
    for (const one of placed) one.isOver = true;
    this.#placedIn.delete(slot);
    return placed;
  }

  /** Why it would have to wait for a slot of its own. */
  noRoomFor(start: StartedAs): string | undefined {
    const { supply } = this.#parts;
    const purpose = this.#purposeOf(start);
    if (purpose === undefined || !this.#mayWait(purpose) || supply.roster.hasRoomFor(purpose)) return undefined;
    if (this.#isOneThere(start, purpose)) return undefined;
    this.#makeRoom();
    if (supply.roster.hasMoreSuspected) this.#dissolveCalm(); // most of them are innocent, and stay for as long as suspicion lasts
    const what = purpose.kind === "own" ? "its type asks for one of its own" : "it has ended one, and has to be alone";
    return `no slot is free, ${what}: there may be ${supply.roster.max} (MAX_SLOTS), two of them kept for suspects`;
  }

  /** Why a task, which may go elsewhere, would have to wait: it needs a slot of its own, or none has its type. */
  noSlotFor(start: StartedAs): string | undefined {
    const noRoom = this.noRoomFor(start);
    if (noRoom !== undefined || this.#mayGetSlot(start)) return noRoom;
    return "no slot has its type, nor would one that starts now: the log has said why (slot-lacks-types, slot-ended-unloaded, slot-not-started)";
  }

  /** Whether a slot that may take it has its type, or may have it when it has loaded. */
  #mayGetSlot(start: StartedAs): boolean {
    const { supply } = this.#parts;
    const purpose = this.#purposeOf(start);
    const { slots, spare } = supply.roster;
    const isTaker = (slot: Slot) => isOfUse(slot) && (!slot.isLoaded || mayTake(slot, start));
    const mayJoin = purpose === undefined || !this.#mayWait(purpose);
    const company = purpose?.kind === "suspects" ? OF_SUSPECTS : EVERYBODYS;
    if (mayJoin && [...slots].some((slot) => company.has(slot.purpose.kind) && isTaker(slot))) return true;
    if (purpose === undefined || purpose.kind === "suspects") return false;
    const isOneToCome = supply.isWorthOneMore(purpose) || (spare !== undefined && suits(spare, purpose));
    return isOneToCome || this.#isOneThere(start, purpose);
  }

  /** For a run that needs a slot of its own: whether there is one that it would get, or one is being started for it. */
  #isOneThere({ observerId }: StartedAs, purpose: OwnPurpose): boolean {
    if (this.#parts.supply.roster.existing(purpose, (slot) => this.#isFull(slot)) !== undefined) return true;
    return this.#waiting.some(({ run, awaits }) => awaits !== undefined && run.start.observerId === observerId);
  }

  /**
   * Runs with unchanged code may stay in a slot of older code, and well ones in a spoilt slot, unless that takes the room of others: then
   * the least loaded slot is emptied.
   */
  makeRoomOfOld(): void {
    const { supply, recycler } = this.#parts;
    if (!supply.roster.isCrowded || supply.roster.isOneGoing) return;
    const [least] = supply.roster.oldShared
      .filter((slot) => this.#mayEmpty(slot))
      .toSorted((a, b) => this.loadOf(a) - this.loadOf(b));
    if (least === undefined) return;
    const what =
      least.spoilt === undefined ? "has older code, and makes room for newer" : "was spoilt, and makes room for others";
    recycler.dissolve(least, this.in(least), `its slot ${what}`);
  }

  /** Whether it holds only observers whose code has not changed, and other slots can take them. */
  #mayEmpty(slot: Slot): boolean {
    const { prints } = this.#parts.supply.folder;
    return this.in(slot).every(({ cause, host, run: { start } }) => {
      const isUnchanged = prints.get(start.type) === slot.prints.get(start.type);
      return cause === undefined && host.onRenewed !== undefined && isUnchanged && this.readinessFor(start).isReady;
    });
  }

  /**
   * For a slot of older code: which part of its runs is told to end, or will begin again among all others. It is all of them if they are
   * observers that others can take, as the slot's place may be needed. A task, a run of a removed type, or one that needs a slot of its own
   * may stay for days, and with it all whose code has not changed.
   */
  leavingPart(slot: Slot): number {
    const { prints } = this.#parts.supply.folder;
    let [all, told, outdated, unchanged] = [0, 0, 0, 0];
    for (const { cause, host, run } of this.in(slot)) {
      const { type } = run.start;
      all += 1;
      if (cause !== undefined) told += 1;
      else if (host.onRenewed === undefined || !prints.has(type) || this.#purposeOf(run.start) !== undefined) continue;
      else if (prints.get(type) === slot.prints.get(type)) unchanged += 1;
      else outdated += 1;
    }
    const leaving = told + outdated;
    return leaving + unchanged === all ? 1 : leaving / all;
  }

  #slotFor(start: StartedAs): Slot | undefined {
    const { supply } = this.#parts;
    if (!supply.folder.prints.has(start.type)) return undefined; // the type is gone from the folder, though a slot may still have it
    const purpose = this.#purposeOf(start);
    if (purpose !== undefined) {
      const own = supply.slotFor(purpose, (slot) => this.#isFull(slot));
      if (own?.isLoaded === true && !mayTake(own, start)) return this.#leastLoaded(start); // only suspects go on: they do not wait
      if (own !== undefined || this.#mayWait(purpose)) return own;
      if (purpose.kind === "own") return this.#leastLoaded(start);
      // There may be no more slots. Suspects do not wait, as most of them are innocent: they join others, until surplus
      // slots, or those of calm suspects, have gone.
      this.#makeRoom();
      this.#dissolveCalm();
      const others = supply.roster.suspected.at(-1);
      if (others !== undefined && (!others.isLoaded || mayTake(others, start))) return others;
    }
    return this.#leastLoaded(start);
  }

  /** The least loaded shared slot. What has failed in one lately counts as if it ran there. */
  #leastLoaded(start: StartedAs): Slot | undefined {
    const { supply, failures } = this.#parts;
    const nowMs = performance.now();
    let best: Slot | undefined;
    let leastLoad = Number.POSITIVE_INFINITY;
    let longestAgo = 0;
    for (const slot of supply.roster.slots) {
      if (!isShared(slot) || !mayTake(slot, start)) continue;
      const load = this.loadOf(slot) + failures.loadIn(slot, start.observerId, nowMs);
      const turn = this.#lastTurns.get(slot) ?? 0;
      if (load > leastLoad || (load === leastLoad && turn >= longestAgo)) continue;
      best = slot;
      leastLoad = load;
      longestAgo = turn;
    }
    return best;
  }

  /** Undefined means that it runs among all others. */
  #purposeOf({ observerId, type }: StartedAs): OwnPurpose | undefined {
    const own = this.#ownOf(type);
    const memoryBytes = own?.memoryBytes;
    const apart = this.#parts.blame.apartOf(observerId);
    if (apart === undefined) return own;
    return apart.kind === "alone" ? { ...apart, type, memoryBytes } : { ...apart, memoryBytes };
  }

  /** Suspects do not wait, as most of them are innocent; nor do tasks of a harmful type. */
  #mayWait(purpose: OwnPurpose): boolean {
    return purpose.kind === "alone" || (purpose.kind === "own" && this.#asksForOwn(purpose.type));
  }

  #asksForOwn(type: string): boolean {
    const { runsPerSlot, memoryMb } = this.#isolation.get(type) ?? {};
    return runsPerSlot !== undefined || memoryMb !== undefined;
  }

  #ownOf(type: string): (OwnPurpose & { kind: "own" }) | undefined {
    if (!this.#asksForOwn(type) && !this.#parts.harmful.has(type)) return undefined;
    const { memoryMb } = this.#isolation.get(type) ?? {};
    return { kind: "own", type, memoryBytes: memoryMb === undefined ? undefined : memoryMb * 2 ** 20 };
  }

  #isFull(slot: Slot): boolean {
    if (slot.purpose.kind !== "own") return false;
    const { runsPerSlot = Number.POSITIVE_INFINITY } = this.#isolation.get(slot.purpose.type) ?? {};
    const awaiting = this.#waiting.filter(({ awaits }) => awaits === slot).length;
    return this.loadOf(slot) + awaiting >= runsPerSlot;
  }

  /**
   * Slots of former suspects, or of runs kept alone, are shared later, so there may be more than there should be: one goes if its
   * place is needed.
   */
  #makeRoom(): void {
    const { supply, recycler } = this.#parts;
    const [least] = supply.roster.surplus.toSorted((a, b) => this.loadOf(a) - this.loadOf(b));
    if (least !== undefined) recycler.dissolve(least, this.in(least));
  }

  /** If their place is needed, suspects whose slot has lived long enough are cleared, and begin again among the others. */
  #dissolveCalm(): void {
    const { supply, blame, recycler } = this.#parts;
    const [calm] = supply.roster.suspected.filter(({ sinceMs }) => performance.now() - sinceMs > this.#calmAfterMs);
    if (calm?.purpose.kind !== "suspects" || supply.roster.isOneGoing) return;
    blame.clear(calm.purpose.group);
    recycler.dissolve(calm, this.in(calm));
  }
}

/** Whether its folder had that type when it was loaded. */
const mayTake = ({ prints }: Slot, { type }: StartedAs): boolean => prints.has(type);
