import fs from "node:fs";

const FD = 1;
/** Of what has no room, in bytes: four times what the log of a slot may burst to. */
const MAX_KEPT = 4_194_304;
/** Kept lines are written in pieces of so many characters. */
const PIECE = 16_384;
/** A try that fails costs as much as many lines. At this pace a pipe of 64 KiB takes 12 MiB a second. */
const AGAIN_MS = 5;
/** What a process that ends waits for its reader. */
const LAST_LINES_MS = 2_000;
const LAST_LINES_LOOK_MS = 5;

/**
 * Standard output, for the lines of a program's log. A line is written at once, so that the last one of a process that ends is not lost;
 * but nothing throws, and nothing waits, where there is no room: a disk that is full, a pipe whose reader is slow or stalls (Docker,
 * a collector). A log that threw then would end what it tells of; one that waited would cost it its lease. What has no room is
 * tried again soon, in order; beyond a limit lines are dropped, and how many is told among them.
 */
export class StandardOutput {
  /** To ask for this opens it: from then on a write to a pipe does not wait, but fails (libuv, uv_pipe_open: O_NONBLOCK). */
  readonly isTerminal: boolean = process.stdout.isTTY;
  /** The first may be what is left of one. */
  readonly #kept: (string | Buffer)[] = [];
  #keptBytes = 0;
  #dropped = 0;
  /** Until then nothing is tried again. */
  #againMs = 0;
  #isWaiting = false;

  constructor() {
    process.on("exit", () => this.#writeLast());
  }

  /** One or more whole lines. A long one is kept whole, if any of it is. */
  write(line: string): void {
    const isDue = performance.now() >= this.#againMs;
    if (isDue && this.#keptBytes >= MAX_KEPT) this.#writeKept();
    if (this.#keptBytes >= MAX_KEPT) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) this.#tellDropped();
    this.#keep(line);
    if (isDue) this.#writeKept();
  }

  #keep(line: string): void {
    this.#keptBytes += Buffer.byteLength(line);
    const last = this.#kept.at(-1);
    if (typeof last === "string" && last.length + line.length <= PIECE) this.#kept[this.#kept.length - 1] = last + line;
    else this.#kept.push(line);
  }

  #tellDropped(): void {
    const fields = { level: "warn", time: new Date().toISOString(), event: "log-lines-dropped", lines: this.#dropped };
    this.#dropped = 0;
    this.#keep(`${JSON.stringify({ ...fields, msg: "standard output took no more: these lines were dropped" })}\n`);
  }

  /** @returns whether what is left is worth waiting for: a reader that reads on */
  #writeKept(): boolean {
    try {
      for (let piece = this.#kept[0]; piece !== undefined; piece = this.#kept[0]) this.#writeFirst(piece);
      return false;
    } catch (error) {
      this.#againMs = performance.now() + AGAIN_MS;
      if (!this.#isWaiting) setTimeout(() => this.#goOn(), AGAIN_MS).unref();
      this.#isWaiting = true;
      return (error as NodeJS.ErrnoException).code === "EAGAIN";
    }
  }

  #writeFirst(piece: string | Buffer): void {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    const written = fs.writeSync(FD, bytes);
    this.#keptBytes -= written;
    if (written < bytes.length) this.#kept[0] = bytes.subarray(written);
    else this.#kept.shift();
  }

  #goOn(): void {
    this.#isWaiting = false;
    this.#writeKept();
    if (this.#dropped === 0 || this.#keptBytes > 0) return;
    this.#tellDropped();
    this.#writeKept();
  }

  /** No turn follows: here it waits, for a while, as what ended the process may be among them. */
  #writeLast(): void {
    if (this.#dropped > 0) this.#tellDropped();
    const untilMs = performance.now() + LAST_LINES_MS;
    while (this.#writeKept() && performance.now() < untilMs) Atomics.wait(NEVER_SET, 0, 0, LAST_LINES_LOOK_MS);
  }
}

const NEVER_SET = new Int32Array(new SharedArrayBuffer(4));
