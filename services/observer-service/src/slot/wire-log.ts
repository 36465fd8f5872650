import { setTimeout } from "node:timers";
import type { LogLevel } from "@unacked/contracts";
import type { AttemptedRun } from "../wire/attempt.ts";
import type { FrameWriter } from "../wire/frames.ts";
import type { FromSlot } from "../wire/messages.ts";
import { LINE_UNWRITABLE } from "./attempt.ts";
import { lineJson } from "./line-json.ts";

/** Lines that may be on their way at once; the keeper says when they are written. What is more is dropped, and counted. */
const CREDIT = 3_000;
/** A line that is longer takes the credit of several: of one attempt 1 MiB may be on its way, or 10 MiB a second. */
const CHARS_A_CREDIT = 512;
/**
 * An attempt may hold so many times what is free: one alone 2,000; of several that flood each about as much, and who is quiet finds
 * some (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998).
 */
const TIMES_THE_FREE = 2;
/** For what is said of a handler: why one has failed is heard, however much it logged before. */
const RESERVE = 250;
const TELL_DROPPED_MS = 1_000;
const SEVERITY: Record<string, number> = { debug: 20, info: 30, warn: 40, error: 50 };

/** To the keeper. */
export type SlotWire = Pick<FrameWriter<FromSlot>, "send" | "sendJson">;

interface OnItsWay {
  readonly attempt: number;
  readonly taken: number;
}

/** The lines of all handlers of a slot, on their way to the keeper, who writes them. A flood costs its own lines alone. */
export class WireLog {
  readonly #wire: SlotWire;
  readonly #level: string;
  #credit = CREDIT;
  /** In their order. */
  readonly #onTheirWay: OnItsWay[] = [];
  /** By attempt: the credit that its lines have taken. */
  readonly #held = new Map<number, number>();
  readonly #dropped = new Map<number, number>();
  #isToTell = false;

  constructor(wire: SlotWire, level: string) {
    this.#wire = wire;
    this.#level = level;
  }

  /** For one attempt: as much of a logger as handlers need. */
  of(attempt: number): AttemptedRun["log"] {
    return new AttemptLog(this, attempt) as unknown as AttemptedRun["log"];
  }

  /** So many lines have been written. */
  written(lines: number): void {
    for (const { attempt, taken } of this.#onTheirWay.splice(0, lines)) this.#take(attempt, -taken);
  }

  /** Its handler is over: what was dropped of it is told now, as of one that has settled the keeper takes nothing more. */
  settled(attempt: number): void {
    this.#tellDroppedOf(attempt);
  }

  isEnabled(level: string): boolean {
    return (SEVERITY[level] ?? 0) >= (SEVERITY[this.#level] ?? 0);
  }

  /** @throws what cannot be written, and is no line then; it has taken no credit */
  write(attempt: number, level: LogLevel, fields: object, message: string): void {
    if (!this.isEnabled(level)) return;
    if (!this.#mayWrite(attempt, fields)) return this.#drop(attempt);
    const line = { kind: "log", attempt, level, message, isHandlers: !("event" in fields), fields: { ...fields } } as const;
    const json = lineJson(line satisfies FromSlot);
    this.#wire.sendJson(json);
    const taken = Math.ceil(json.length / CHARS_A_CREDIT);
    this.#take(attempt, taken);
    this.#onTheirWay.push({ attempt, taken });
  }

  #mayWrite(attempt: number, fields: { event?: unknown }): boolean {
    // That one of its lines could not be written is said as often as it likes.
    const isOfHandler = fields.event === undefined || fields.event === LINE_UNWRITABLE;
    const free = this.#credit + (isOfHandler ? 0 : RESERVE);
    return (this.#held.get(attempt) ?? 0) < TIMES_THE_FREE * free;
  }

  #take(attempt: number, taken: number): void {
    this.#credit -= taken;
    const held = (this.#held.get(attempt) ?? 0) + taken;
    if (held === 0) this.#held.delete(attempt);
    else this.#held.set(attempt, held);
  }

  #drop(attempt: number): void {
    if (!this.#isToTell) setTimeout(() => this.#tellDropped(), TELL_DROPPED_MS).unref();
    this.#isToTell = true;
    this.#dropped.set(attempt, (this.#dropped.get(attempt) ?? 0) + 1);
  }

  #tellDropped(): void {
    this.#isToTell = false;
    for (const attempt of this.#dropped.keys()) this.#tellDroppedOf(attempt);
  }

  #tellDroppedOf(attempt: number): void {
    const lines = this.#dropped.get(attempt);
    if (lines === undefined) return;
    this.#dropped.delete(attempt);
    this.#wire.send({ kind: "lines-dropped", attempt, lines });
  }
}

/** There is one for each of thousands, hence methods rather than functions of its own. */
class AttemptLog {
  readonly #log: WireLog;
  readonly #attempt: number;

  constructor(log: WireLog, attempt: number) {
    this.#log = log;
    this.#attempt = attempt;
  }

  isLevelEnabled(level: string): boolean {
    return this.#log.isEnabled(level);
  }

  debug(fields: object, message: string): void {
    this.#log.write(this.#attempt, "debug", fields, message);
  }

  info(fields: object, message: string): void {
    this.#log.write(this.#attempt, "info", fields, message);
  }

  warn(fields: object, message: string): void {
    this.#log.write(this.#attempt, "warn", fields, message);
  }

  error(fields: object, message: string): void {
    this.#log.write(this.#attempt, "error", fields, message);
  }
}
