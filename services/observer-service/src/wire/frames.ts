import type { Socket } from "node:net";
import { setImmediate } from "node:timers";

/**
 * The functions as they were when the process began. Authors' code, or a library of theirs, may replace them for all that runs beside
 * it (fake timers, a browser's globals): a slot that can no longer speak would not even be missed.
 */
const { stringify, parse } = JSON;

/** A frame is one line of JSON. The bound is above the largest emitted event with its envelope; nobody sends more. */
const MAX_FRAME_BYTES = 4 * 1_048_576;
/** If a turn sends more than this, it is written in parts. */
const MAX_WAITING = 262_144;
const NEWLINE = 0x0a;

/**
 * Frames on a pipe between a keeper and a slot: JSON, one a line. All frames of one turn of the event loop are one write of one text:
 * thousands of starts come at once, and a write of each costs as much as the start.
 */
export class FrameWriter<Message> {
  readonly #socket: Pick<Socket, "write" | "writable">;
  #waiting = "";

  constructor(socket: Pick<Socket, "write" | "writable">) {
    this.#socket = socket;
  }

  /** If the pipe is gone, nothing is sent: the reader at the other end learns of it by its end. */
  send(message: Message): void {
    if (this.#socket.writable) this.sendJson(stringify(message));
  }

  /** Sends a message that has been written as JSON already. */
  sendJson(json: string): void {
    if (!this.#socket.writable) return;
    if (this.#waiting === "") setImmediate(() => this.flush());
    this.#waiting += `${json}\n`;
    if (this.#waiting.length > MAX_WAITING) this.flush();
  }

  /** Writes now what waits for the end of the turn, for a process that is about to end itself. */
  flush(): void {
    const text = this.#waiting;
    if (text === "") return;
    this.#waiting = "";
    if (this.#socket.writable) this.#socket.write(text);
  }
}

/** Cuts what arrives into frames. The handler gets each as parsed JSON; a line that is not a frame ends the reading. */
export class FrameReader {
  readonly #onFrame: (frame: unknown) => void;
  readonly #onBroken: (why: string) => void;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #isBroken = false;

  constructor(onFrame: (frame: unknown) => void, onBroken: (why: string) => void) {
    this.#onFrame = onFrame;
    this.#onBroken = onBroken;
  }

  take(chunk: Buffer): void {
    if (this.#isBroken) return;
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) this.#parse(this.#joined(chunk.subarray(0, end - 1)));
    if (this.#isBroken || end === chunk.length) return;
    this.#rest.push(end === 0 ? chunk : chunk.subarray(end));
    this.#restBytes += chunk.length - end;
    if (this.#restBytes > MAX_FRAME_BYTES) this.#break(`a frame has more than ${MAX_FRAME_BYTES} bytes`);
  }

  #joined(last: Buffer): string {
    if (this.#rest.length === 0) return last.toString("utf8");
    const text = Buffer.concat([...this.#rest, last]).toString("utf8");
    this.#rest = [];
    this.#restBytes = 0;
    return text;
  }

  /** Parses all whole lines at once, as JSON has no newline inside: one array of hundreds is parsed in half the time. */
  #parse(text: string): void {
    const frames = parsed(`[${text.replaceAll("\n", ",")}]`);
    if (frames !== undefined) {
      for (const frame of frames as unknown[]) if (!this.#isBroken) this.#onFrame(frame);
      return;
    }
    // The frames before the invalid one are still taken.
    for (const line of text.split("\n")) {
      if (this.#isBroken) return;
      const frame = parsed(line);
      if (frame === undefined) return this.#break("what came is no JSON");
      this.#onFrame(frame);
    }
  }

  #break(why: string): void {
    this.#isBroken = true;
    this.#rest = [];
    this.#onBroken(why);
  }
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
