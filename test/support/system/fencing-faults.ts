import { longestOverlapMs } from "../acts/invariants.ts";
import type { Bystander } from "../processes/bystander.ts";
import { FULL } from "../runs/counts.ts";
import type { Doing, FencedPair } from "./fenced-pair.ts";
import { BUSY_MACHINE_MS, KILLED_KEEPER_OVERLAP_MS } from "./system.ts";

/** Of the services; in s and in ms. */
export const HEARTBEAT_S = 2;
const HEARTBEAT_MS = HEARTBEAT_S * 1_000;
export const STUCK_MS = 5_000;
/** After the last proof nothing of a slot whose handlers did not stop may be alive, in ms. */
const GONE_MS = 1.9 * HEARTBEAT_MS;
/** What a handler has to stop, after a loss that is noticed at once. */
const STOP_MS = 0.4 * HEARTBEAT_MS;
/** Who looks whether they are gone may come late himself, where little else is proved. */
const SEEN_LATE_MS = FULL ? 0 : 1_000;
/** Likewise a process may stand still while the bystander does not. */
const UNSEEN_MS = FULL ? 0 : BUSY_MACHINE_MS;
/** A frozen slot is looked for once a second. */
const LOOKS_MS = 3_000;

/** What came of one fault, by the handlers' own acts and the kernel's processes. */
export interface Round {
  readonly overlapMs: number;
  /** What may be: by the promise, and what the machine took from everybody meanwhile. */
  readonly boundMs: number;
  readonly missedMs: number;
  /** From the fault until nothing of the slots' process groups was left; undefined: they live on, as nothing runs in them. */
  readonly goneMs: number | undefined;
  readonly goneBoundMs: number;
  /** Successors that began in the same service before their predecessor had been reaped. */
  readonly besidePredecessor: number;
}

export const FAULTS = {
  "kill -9 of the keeper": killed,
  "SIGSTOP of the keeper alone": frozen,
  "SIGSTOP of a slot alone": slotFrozen,
  "a reset of the consuming connection": reset,
  "a partition": parted,
} as const;
export type Fault = keyof typeof FAULTS;

/** @param begins what is done to the pair, while its handlers do so */
export async function round(pair: FencedPair, bystander: Bystander, fault: Fault, doing: Doing): Promise<Round> {
  await pair.untilRuns(pair.holder);
  const fromNs = process.hrtime.bigint();
  const { goneMs, goneBoundMs, promisedMs } = await FAULTS[fault](pair, doing);
  const acts = pair.acts(fromNs);
  const missedMs = bystander.missedMs(fromNs, process.hrtime.bigint());
  return {
    goneMs,
    goneBoundMs: goneBoundMs + missedMs + SEEN_LATE_MS,
    missedMs,
    overlapMs: longestOverlapMs(acts.filter(({ kind }) => (kind as string) !== "end")),
    boundMs: promisedMs === 0 ? 0 : promisedMs + missedMs + UNSEEN_MS,
    besidePredecessor: acts.filter(({ kind }) => (kind as string) === "beside-predecessor").length,
  };
}

interface Done {
  readonly goneMs: number | undefined;
  readonly goneBoundMs: number;
  readonly promisedMs: number;
}

async function killed(pair: FencedPair, doing: Doing): Promise<Done> {
  const slots = pair.slotPids();
  await pair.order(doing, pair.actingSlots());
  const atMs = performance.now();
  process.kill(pair.holder.keeperPid, "SIGKILL");
  const goneMs = await pair.untilGone(slots, atMs);
  await pair.untilRuns(pair.heir);
  pair.holder = pair.heir;
  pair.heir = await pair.start();
  return { goneMs, goneBoundMs: GONE_MS, promisedMs: KILLED_KEEPER_OVERLAP_MS };
}

async function frozen(pair: FencedPair, doing: Doing): Promise<Done> {
  const { holder } = pair;
  const generation = await pair.generationOf(holder.name);
  const slots = pair.slotPids();
  await pair.order(doing, pair.actingSlots());
  const atMs = performance.now();
  process.kill(holder.keeperPid, "SIGSTOP");
  const goneMs = await pair.untilGone(slots, atMs);
  await pair.untilRuns(pair.heir);
  await new Promise((resolve) => setTimeout(resolve, atMs + 4 * HEARTBEAT_MS - performance.now())); // it stays frozen for so long
  process.kill(holder.keeperPid, "SIGCONT");
  await pair.untilKnown(holder.name, generation + 1);
  changeRoles(pair);
  return { goneMs, goneBoundMs: GONE_MS, promisedMs: 0 };
}

async function slotFrozen(pair: FencedPair, doing: Doing): Promise<Done> {
  const [slot = 0] = pair.actingSlots();
  const pid = pair.pidOf(slot);
  await pair.order(doing, [slot]);
  const atMs = performance.now();
  process.kill(pid, "SIGSTOP");
  const goneMs = await pair.untilGone([pid], atMs);
  await pair.untilRuns(pair.holder);
  const blamed = await pair.blamed();
  const isTold = pair.holder.lines.some((line) => line.includes(`"slot":${slot},`) && line.includes("frozen from outside"));
  if (!isTold || blamed > 0) throw new Error(`slot ${slot} was frozen: told ${isTold}, blamed ${blamed}`);
  return { goneMs, goneBoundMs: 2 * STUCK_MS + LOOKS_MS, promisedMs: 0 };
}

async function reset(pair: FencedPair, doing: Doing): Promise<Done> {
  const { holder } = pair;
  const generation = await pair.generationOf(holder.name);
  const slots = pair.slotPids();
  await pair.order(doing, pair.actingSlots());
  const atMs = performance.now();
  holder.wire.only(`${holder.name} consumes`).reset();
  const goneMs = doing === "idle" ? undefined : await goneOfThoseThatRan(pair, slots, atMs);
  await pair.untilRuns(pair.heir);
  await pair.untilKnown(holder.name, generation + 1);
  changeRoles(pair);
  return { goneMs, goneBoundMs: GONE_MS, promisedMs: STOP_MS };
}

async function parted(pair: FencedPair, doing: Doing): Promise<Done> {
  const { holder } = pair;
  const generation = await pair.generationOf(holder.name);
  const slots = pair.slotPids();
  await pair.order(doing, pair.actingSlots());
  const atMs = performance.now();
  holder.wire.blackhole();
  const goneMs = doing === "idle" ? undefined : await goneOfThoseThatRan(pair, slots, atMs);
  await pair.untilRuns(pair.heir);
  await holder.wire.heal();
  await pair.untilKnown(holder.name, generation + 1);
  changeRoles(pair);
  return { goneMs, goneBoundMs: GONE_MS, promisedMs: 0 };
}

/** The keeper lives: a slot in which nothing ran may go on, for the next ones. */
function goneOfThoseThatRan(pair: FencedPair, slots: readonly number[], atMs: number): Promise<number> {
  const ran = pair.actingSlots().map((slot) => pair.pidOf(slot));
  return pair.untilGone(
    slots.filter((pid) => ran.includes(pid)),
    atMs,
  );
}

function changeRoles(pair: FencedPair): void {
  const { holder, heir } = pair;
  pair.holder = heir;
  pair.heir = holder;
}
