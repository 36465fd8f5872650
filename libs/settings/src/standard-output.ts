import fs from "node:fs";

const FD = 1;
/** How many bytes are kept while there is no room: four times the largest burst of a slot's log. */
const MAX_KEPT = 4_194_304;
/** The characters of one write of kept lines. */
const PIECE = 16_384;
/** A try that fails costs as much as many lines. At this pace a pipe of 64 KiB takes 12 MiB a second. */
const AGAIN_MS = 5;
/** The pause if no slow reader is the cause: a full disk is busy with each try, and a closed pipe does not come back. */
const AGAIN_LATER_MS = 1_000;
/** How long a process that ends waits for its reader: half of it for all kept bytes, the rest for the newest ones alone. */
const LAST_LINES_MS = 2_000;
const LAST_LINES = 262_144;
const LAST_LINES_LOOK_MS = 5;

/**
 * Standard output, for the lines of a program's log. A line is written at once, so that the last one of a process that ends is not lost. If
 * there is no room, nothing throws and nothing waits: a disk may be full, a pipe's reader slow or stalled (Docker, a collector). A log that
 * threw then would end the program that it reports on; one that waited would cost it its lease. Kept lines are tried again soon, in order.
 * Beyond a limit the oldest are dropped, as the newest say what became of it, and their number is written in their place.
 */
export class StandardOutput {
  /**
   * Reading this opens the stream: from then on a write to a pipe does not wait, but fails (libuv, uv_pipe_open:
   * O_NONBLOCK).
   */
  readonly isTerminal: boolean = process.stdout.isTTY;
  /** Only the first is ever a Buffer: the rest of a partly written line, or what is tried again. */
  readonly #kept: (string | Buffer)[] = [];
  #keptBytes = 0;
  #dropped = 0;
  /** Nothing is tried again before this time. */
  #againMs = 0;
  #isWaiting = false;

  constructor() {
    process.on("exit", () => this.#writeLast());
  }

  /** Writes one or more whole lines. A long one is kept whole, if any of it is. */
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

  /** Does not drop the only line, nor the rest of one. */
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
      this.#againMs = 0; // otherwise the next line would wait for a try that nobody makes
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
    this.#kept[0] = bytes; // made once, not with each try
    const written = fs.writeSync(FD, bytes);
    this.#keptBytes -= written;
    if (written < bytes.length) this.#kept[0] = bytes.subarray(written);
    else this.#kept.shift();
  }

  /** The line that stands for the dropped ones, or an empty text. */
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

  /** No turn follows, so it waits here for a while: the lines may say what ended the process. */
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

/**
 * Repeated each time: a child with the same pipe for its own output makes it blocking for all (tsx's, as it loads TypeScript).
 */
function mustNotWait(): void {
  (process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } })._handle?.setBlocking?.(false);
}
