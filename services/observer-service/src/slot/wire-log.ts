import { setTimeout } from "node:timers";
import type { LogLevel } from "@unacked/contracts";
import type { AttemptedRun } from "../wire/attempt.ts";
import type { FrameWriter } from "../wire/frames.ts";
import type { FromSlot } from "../wire/messages.ts";
import { lineJson } from "./line-json.ts";

/** Lines that may be on their way at once; the keeper says when they are written. What is more is dropped, and counted. */
const CREDIT = 2_000;
/** A line that is longer takes the credit of several: 1 MiB may be on its way, or 10 MiB a second. */
const CHARS_A_CREDIT = 512;
const TELL_DROPPED_MS = 1_000;
const SEVERITY: Record<string, number> = { debug: 20, info: 30, warn: 40, error: 50 };

/** To the keeper. */
export type SlotWire = Pick<FrameWriter<FromSlot>, "send" | "sendJson">;

/** The lines of all handlers of a slot, on their way to the keeper, who writes them. A flood costs its own lines alone. */
export class WireLog {
  readonly #wire: SlotWire;
  readonly #level: string;
  #credit = CREDIT;
  /** What each line on its way has taken, in their order. */
  readonly #taken: number[] = [];
  readonly #dropped = new Map<number, number>();

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
    for (const taken of this.#taken.splice(0, lines)) this.#credit += taken;
  }

  isEnabled(level: string): boolean {
    return (SEVERITY[level] ?? 0) >= (SEVERITY[this.#level] ?? 0);
  }

  /** @throws what cannot be written, and is no line then; it has taken no credit */
  write(attempt: number, level: LogLevel, fields: object, message: string): void {
    if (!this.isEnabled(level)) return;
    if (this.#credit <= 0) return this.#drop(attempt);
    const line = { kind: "log", attempt, level, message, isHandlers: !("event" in fields), fields: { ...fields } } as const;
    const json = lineJson(line satisfies FromSlot);
    this.#wire.sendJson(json);
    const taken = Math.ceil(json.length / CHARS_A_CREDIT);
    this.#credit -= taken;
    this.#taken.push(taken);
  }

  #drop(attempt: number): void {
    if (this.#dropped.size === 0) setTimeout(() => this.#tellDropped(), TELL_DROPPED_MS).unref();
    this.#dropped.set(attempt, (this.#dropped.get(attempt) ?? 0) + 1);
  }

  #tellDropped(): void {
    for (const [attempt, lines] of this.#dropped) this.#wire.send({ kind: "lines-dropped", attempt, lines });
    this.#dropped.clear();
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
