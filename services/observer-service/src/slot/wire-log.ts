import { setTimeout } from "node:timers";
import type { LogLevel } from "@unacked/contracts";
import type { AttemptedRun } from "../wire/attempt.ts";
import type { FrameWriter } from "../wire/frames.ts";
import type { FromSlot } from "../wire/messages.ts";
import { LINE_UNWRITABLE } from "./handler-line.ts";
import { lineJson } from "./line-json.ts";

/** The most lines on their way at once; the keeper says when they are written. Further lines are dropped, and counted. */
const CREDIT = 3_000;
/** A longer line takes the credit of several: one attempt may have 1 MiB on its way, or 10 MiB a second. */
const CHARS_A_CREDIT = 512;
/**
 * An attempt may hold so many times what is free: one alone 2,000. If several flood, each has about as much, and a quiet one still
 * finds some (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998).
 */
const TIMES_THE_FREE = 2;
/** The credit for lines about a handler, so that its failure is heard, however much it logged before. */
const RESERVE = 250;
const TELL_DROPPED_MS = 1_000;
const SEVERITY: Record<string, number> = { debug: 20, info: 30, warn: 40, error: 50 };

/** The wire to the keeper. */
export type SlotWire = Pick<FrameWriter<FromSlot>, "send" | "sendJson">;

interface OnItsWay {
  readonly attempt: number;
  readonly taken: number;
}

/**
 * The lines of all handlers of a slot, on their way to the keeper, which writes them. In a flood only its own lines are
 * dropped.
 */
export class WireLog {
  readonly #wire: SlotWire;
  readonly #level: string;
  #credit = CREDIT;
  /** The lines in their order. */
  readonly #onTheirWay: OnItsWay[] = [];
  /** By attempt: the credit that its lines have taken. */
  readonly #held = new Map<number, number>();
  readonly #dropped = new Map<number, number>();
  #isToTell = false;

  constructor(wire: SlotWire, level: string) {
    this.#wire = wire;
    this.#level = level;
  }

  /** The logger of one attempt, as far as handlers need it. */
  of(attempt: number): AttemptedRun["log"] {
    return new AttemptLog(this, attempt) as unknown as AttemptedRun["log"];
  }

  /** The keeper has written so many lines. */
  written(lines: number): void {
    for (const { attempt, taken } of this.#onTheirWay.splice(0, lines)) this.#take(attempt, -taken);
  }

  /** The handler is over. Its dropped lines are reported now, as the keeper takes nothing more from a settled run. */
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
    // A handler may cause the message that a line cannot be written as often as it likes.
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

/** Each of thousands of runs has one, hence methods rather than functions of its own. */
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
