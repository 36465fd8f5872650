import fs from "node:fs";

const FD = 1;
/** Of what has no room, in bytes: four times what the log of a slot may burst to. */
const MAX_KEPT = 4_194_304;
/** Kept lines are written in pieces of so many characters. */
const PIECE = 16_384;
/** A try that fails costs as much as many lines. At this pace a pipe of 64 KiB takes 12 MiB a second. */
const AGAIN_MS = 5;
/** Where it is no reader that is slow: a disk that is full is busy with each try, and whoever closed a pipe does not come back. */
const AGAIN_LATER_MS = 1_000;
/** What a process that ends waits for its reader: half of it for all, and the rest for so many bytes of the newest. */
const LAST_LINES_MS = 2_000;
const LAST_LINES = 262_144;
const LAST_LINES_LOOK_MS = 5;

/**
 * Standard output, for the lines of a program's log. A line is written at once, so that the last one of a process that ends is not lost;
 * but nothing throws, and nothing waits, where there is no room: a disk that is full, a pipe whose reader is slow or stalls (Docker,
 * a collector). A log that threw then would end what it tells of; one that waited would cost it its lease. What has no room is
 * tried again soon, in order; beyond a limit the oldest lines are dropped, as the newest say what became of it, and how many is told in their place.
 */
export class StandardOutput {
  /** To ask for this opens it: from then on a write to a pipe does not wait, but fails (libuv, uv_pipe_open: O_NONBLOCK). */
  readonly isTerminal: boolean = process.stdout.isTTY;
  /** Bytes, only as the first: the rest of a line of which a part is written, or what is tried again. */
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
    this.#keep(line);
    if (performance.now() >= this.#againMs) this.#writeKept();
    this.#dropBeyond(MAX_KEPT);
  }

  #keep(line: string): void {
    this.#keptBytes += Buffer.byteLength(line);
    const last = this.#kept.at(-1);
    if (typeof last === "string" && last.length + line.length <= PIECE) this.#kept[this.#kept.length - 1] = last + line;
    else this.#kept.push(line);
  }

  /** Not what is the only one, nor the rest of one. */
  #dropBeyond(bytes: number): void {
    const oldest = typeof this.#kept[0] === "string" ? 0 : 1;
    while (this.#keptBytes > bytes && this.#kept.length > oldest + 1) {
      const [piece] = this.#kept.splice(oldest, 1) as [string];
      this.#keptBytes -= Buffer.byteLength(piece);
      this.#dropped += piece.split("\n").length - 1;
    }
  }

  /** @returns whether what is left is worth waiting for: a reader that reads on */
  #writeKept(): boolean {
    mustNotWait();
    try {
      while (this.#kept.length > 0) this.#writeFirst();
      this.#againMs = 0; // or what comes next would wait for a try that nobody makes
      return false;
    } catch (error) {
      const isSlow = (error as NodeJS.ErrnoException).code === "EAGAIN";
      const pauseMs = isSlow ? AGAIN_MS : AGAIN_LATER_MS;
      this.#againMs = performance.now() + pauseMs;
      if (!this.#isWaiting) setTimeout(() => this.#goOn(), pauseMs).unref();
      this.#isWaiting = true;
      return isSlow;
    }
  }

  #writeFirst(): void {
    const first = this.#kept[0] as string | Buffer;
    const bytes = typeof first === "string" ? Buffer.from(this.#toldOfDropped() + first) : first;
    this.#kept[0] = bytes; // not to be made again with each try
    const written = fs.writeSync(FD, bytes);
    this.#keptBytes -= written;
    if (written < bytes.length) this.#kept[0] = bytes.subarray(written);
    else this.#kept.shift();
  }

  /** The line that stands for them, or nothing. */
  #toldOfDropped(): string {
    if (this.#dropped === 0) return "";
    const fields = { level: "warn", time: new Date().toISOString(), event: "log-lines-dropped", lines: this.#dropped };
    const line = `${JSON.stringify({ ...fields, msg: "standard output accepted no more: these lines were dropped" })}\n`;
    this.#dropped = 0;
    this.#keptBytes += line.length;
    return line;
  }

  #goOn(): void {
    this.#isWaiting = false;
    this.#writeKept();
  }

  /** No turn follows: here it waits, for a while, as what ended the process may be among them. */
  #writeLast(): void {
    const endMs = performance.now() + LAST_LINES_MS;
    this.#writeUntil(endMs - LAST_LINES_MS / 2);
    this.#dropBeyond(LAST_LINES);
    this.#writeUntil(endMs);
  }

  #writeUntil(endMs: number): void {
    while (this.#writeKept() && performance.now() < endMs) Atomics.wait(NEVER_SET, 0, 0, LAST_LINES_LOOK_MS);
  }
}

const NEVER_SET = new Int32Array(new SharedArrayBuffer(4));

/** Again each time: a child that has the same pipe for its own output makes it wait for all (tsx's, as it loads TypeScript). */
function mustNotWait(): void {
  (process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } })._handle?.setBlocking?.(false);
}
