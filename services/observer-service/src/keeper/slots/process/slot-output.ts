import type { Readable } from "node:stream";

/** How many characters are read in a turn. A slot that writes more is made to wait, in its own process. */
const CHARS_A_TURN = 65_536;
/**
 * How many lines are read in a turn. A line costs the keeper as much as hundreds of characters: short ones alone, 32,000 a
 * turn, have cost it its lease.
 */
const LINES_A_TURN = 200;
const TURN_MS = 100;
/** The bound of a line in characters. Of a longer one the beginning is passed on. */
const MAX_LINE = 8_192;
/** How long the rest of a dead slot's pipes is passed on. Slots that die one after the other each have a pace of their own. */
const LAST_WORDS_MS = 1_000;

type Name = "stdout" | "stderr";

/**
 * Passes on the lines that a slot's author code prints, both streams together no faster than 640 KiB and 2,000 lines a
 * second: a flood delays only its own slot. What is read and may not be passed on yet holds up its stream until it is
 * through.
 */
export class SlotOutput {
  readonly #onLine: (stream: Name, text: string) => void;
  readonly #streams: readonly Readable[];
  /** Streams that wait, as this turn's lines are used up. The first of them has the next turn. */
  #waiting: PrintedLines[] = [];
  #lines = 0;
  #chars = 0;
  #turn: NodeJS.Timeout | undefined;
  #isDeaf = false;

  constructor(streams: Record<Name, Readable>, onLine: (stream: Name, text: string) => void) {
    this.#onLine = onLine;
    this.#streams = Object.values(streams);
    for (const name of ["stdout", "stderr"] as const) this.#read(name, streams[name]);
  }

  /**
   * The process is gone. If another process has inherited its pipes, these are closed, or we would read for as long as that lives; `onHeld`
   * reports it.
   */
  end(onHeld: () => void): void {
    // A timer fires before what has arrived meanwhile is read, so one turn more is waited for.
    setTimeout(() => setImmediate(() => this.#close(onHeld)), LAST_WORDS_MS).unref();
  }

  #close(onHeld: () => void): void {
    this.#isDeaf = true;
    clearTimeout(this.#turn);
    const waiting = this.#waiting.splice(0);
    for (const { name } of waiting) this.#onLine(name, "(the slot has ended: what it had printed besides is not shown)");
    const isUnread = (stream: Readable) => waiting.some((lines) => lines.stream === stream);
    if (this.#streams.some((stream) => !stream.readableEnded && !isUnread(stream))) onHeld();
    for (const stream of this.#streams) stream.destroy();
  }

  #read(name: Name, stream: Readable): void {
    const lines = new PrintedLines(name, stream);
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      if (this.#isDeaf) return;
      this.#beginTurn();
      this.#chars += text.length;
      lines.add(text);
      this.#passOn(lines);
      if (!this.#hasRoom || lines.hasMore) {
        stream.pause();
        this.#waiting.push(lines);
      }
    });
    stream.on("end", () => {
      if (lines.rest !== "" && !this.#isDeaf) this.#onLine(name, lines.rest);
    });
    stream.on("error", () => undefined);
  }

  get #hasRoom(): boolean {
    return this.#lines < LINES_A_TURN && this.#chars < CHARS_A_TURN;
  }

  #passOn(lines: PrintedLines): void {
    for (; this.#lines < LINES_A_TURN; this.#lines += 1) {
      const line = lines.next();
      if (line === undefined) return;
      this.#onLine(lines.name, line);
    }
  }

  #beginTurn(): void {
    this.#turn ??= setTimeout(() => this.#nextTurn(), TURN_MS).unref();
  }

  #nextTurn(): void {
    this.#turn = undefined;
    this.#lines = 0;
    this.#chars = 0;
    const waiting = this.#waiting.splice(0);
    if (waiting.length > 0) this.#beginTurn();
    for (const lines of waiting) this.#passOn(lines);
    // A stream that had nothing in this turn is the first of the next.
    const left = waiting.filter((lines) => lines.hasMore).toReversed();
    this.#waiting.push(...left);
    for (const lines of waiting) if (!lines.hasMore) lines.stream.resume();
  }
}

/** The text of a stream that was read and has not been passed on. */
class PrintedLines {
  readonly name: Name;
  readonly stream: Readable;
  #text = "";
  #at = 0;

  constructor(name: Name, stream: Readable) {
    this.name = name;
    this.stream = stream;
  }

  add(text: string): void {
    const rest = this.#text.slice(this.#at);
    // Of a line without its end the beginning is kept, and the fact that there was more.
    this.#text = (this.hasMore ? rest : rest.slice(0, MAX_LINE + 1)) + text;
    this.#at = 0;
  }

  /** Whether there is another whole line, which may be empty. */
  get hasMore(): boolean {
    return this.#text.indexOf("\n", this.#at) >= 0;
  }

  /** The next line that is not empty. */
  next(): string | undefined {
    for (;;) {
      const end = this.#text.indexOf("\n", this.#at);
      if (end < 0) return undefined;
      const line = this.#text.slice(this.#at, end);
      this.#at = end + 1;
      if (line !== "") return cutLine(line);
    }
  }

  /** The text after the last whole line. */
  get rest(): string {
    return cutLine(this.#text.slice(this.#text.lastIndexOf("\n") + 1));
  }
}

const cutLine = (line: string): string => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line);
