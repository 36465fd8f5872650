import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import type { Socket } from "node:net";
import { FrameReader, FrameWriter } from "../../../wire/frames.ts";
import { type FromSlot, type LeaseWord, LIFELINE_FD, type Stuck, type ToSlot, WIRE_FD } from "../../../wire/messages.ts";
import { FromSlotSchema, WatchdogWordSchema } from "./slot-messages.ts";
import { SlotOutput } from "./slot-output.ts";

/** A process's own end closes its pipe, too. Only if it lives on after this time has it closed the pipe itself. */
const CLOSED_MS = 1_000;
/**
 * After the end of a process its pipe brings the rest at once. After this time another process keeps it open, and may even
 * write.
 */
const QUIET_MS = 1_000;
const READ_LIMIT_MS = 5_000;

/** How a slot's process came to its end. */
export interface SlotEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface SlotProcessParts {
  /** The beginning of its command: see `deathLeash`. */
  readonly leash: readonly string[];
  /** Node's arguments: its options, and the file that it runs. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** A line of the author's own stdout or stderr. */
  onLine(stream: "stdout" | "stderr", text: string): void;
  onMessage(message: FromSlot): void;
  /** Its watchdog has been heard. */
  onAlive(): void;
  onStuck(word: Stuck): void;
  /** It sent something that is not a message of ours, so it is ended. */
  onBroken(why: string): void;
  /**
   * Something that its handlers have started, in a group of its own, holds one of its pipes. That is not waited for, and the pipe is
   * closed. Called once.
   */
  onPipeHeld(): void;
  /**
   * Called once, when the process has been reaped, its group killed, and its pipe read to its end, or closed. Nothing comes from it
   * after this.
   */
  onGone(end: SlotEnd): void;
}

/** One slot's process, leader of a process group of its own, with a pipe for frames and a lifeline. */
export class SlotProcess {
  readonly pid: number;
  /** Resolves when nothing comes from it any more. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #wire: FrameWriter<ToSlot>;
  readonly #lifeline: FrameWriter<LeaseWord>;
  readonly #output: SlotOutput | undefined;
  #isKilled = false;
  #isOver = false;

  /** @throws SlotNotStartedError: there is no process, and nothing of it comes */
  constructor(parts: SlotProcessParts) {
    const child = start(parts);
    this.#child = child;
    this.pid = child.pid ?? 0;
    const wire = child.stdio[WIRE_FD] as Socket;
    const lifeline = child.stdio[LIFELINE_FD] as Socket;
    this.#wire = new FrameWriter(wire);
    this.#lifeline = new FrameWriter(lifeline);
    const broken = (why: string): void => {
      if (this.#isKilled) return;
      parts.onBroken(why);
      this.kill();
    };
    this.#read(wire, parts, broken);
    this.#watch(lifeline, parts, broken);
    for (const pipe of [wire, lifeline]) {
      const what = `it has closed descriptor ${pipe === wire ? WIRE_FD : LIFELINE_FD}`;
      pipe.once("close", () => setTimeout(() => this.#isOver || broken(what), CLOSED_MS).unref());
    }
    const { stdout, stderr } = child;
    if (stdout && stderr) this.#output = new SlotOutput({ stdout, stderr }, parts.onLine);
    this.gone = this.#untilGone(wire, lifeline, parts);
  }

  send(message: ToSlot): void {
    this.#wire.send(message);
  }

  /** Tells it until when it may act. */
  tellLease(word: LeaseWord): void {
    this.#lifeline.send(word);
  }

  /** SIGKILL to its whole group; `onGone` follows. */
  kill(): void {
    this.#isKilled = true;
    this.#killGroup();
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  #killGroup(): void {
    if (this.pid === 0) return;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      this.#child.kill("SIGKILL"); // it is not the leader of its group yet, or nothing of the group is left
    }
  }

  #read(wire: Socket, { onMessage }: SlotProcessParts, broken: (why: string) => void): void {
    const reader = new FrameReader((frame) => {
      const decoded = FromSlotSchema.safeParse(frame);
      if (decoded.success) onMessage(decoded.data);
      else broken(`a frame that is none: ${decoded.error.issues[0]?.message ?? ""}`);
    }, broken);
    wire.on("data", (chunk: Buffer) => reader.take(chunk));
    wire.on("error", () => undefined); // its end reports it
  }

  #watch(lifeline: Socket, { onAlive, onStuck }: SlotProcessParts, broken: (why: string) => void): void {
    const reader = new FrameReader((frame) => {
      const word = WatchdogWordSchema.safeParse(frame);
      if (!word.success) return broken(`a word of its watchdog that is none: ${word.error.issues[0]?.message ?? ""}`);
      onAlive();
      if (word.data.kind === "stuck") onStuck(word.data);
    }, broken);
    lifeline.on("data", (chunk: Buffer) => reader.take(chunk));
    lifeline.on("error", () => undefined);
  }

  async #untilGone(wire: Socket, lifeline: Socket, { onGone, onPipeHeld }: SlotProcessParts): Promise<void> {
    const exited = new Promise<SlotEnd>((resolve) => {
      this.#child.once("exit", (code, signal) => resolve({ code, signal }));
      this.#child.once("error", () => resolve({ code: null, signal: null })); // it could not be started
    });
    const read = new Promise<void>((resolve) => wire.once("close", () => resolve()));
    const end = await exited;
    this.#isOver = true;
    this.#killGroup(); // whether a process that its handlers have started holds a pipe
    let isHeld = false;
    const onHeld = () => {
      if (!isHeld) onPipeHeld();
      isHeld = true;
    };
    this.#output?.end(onHeld);
    closeWhenRead(wire, onHeld);
    await read;
    lifeline.destroy();
    onGone(end);
  }
}

/** The system is out of something: memory, processes, file descriptors. */
export class SlotNotStartedError extends Error {
  override readonly name = "SlotNotStartedError";
}

function start({ leash: [leash, ...leashArgs], args: own, env }: SlotProcessParts): ChildProcess {
  const [file, args] = leash === undefined ? [process.execPath, own] : [leash, [...leashArgs, process.execPath, ...own]];
  let child: ChildProcess | undefined;
  try {
    child = spawn(file, args, {
      env,
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
      detached: true, // in a group of its own, so that what its handlers start is ended with it
    });
  } catch (error) {
    throw new SlotNotStartedError((error as Error).message, { cause: error });
  }
  // Some errors come by an event, in a later turn, and then Node has made no pipes.
  if ((child.stdio as unknown) !== undefined) return child;
  child.once("error", () => undefined);
  throw new SlotNotStartedError("there are no more file descriptors (EMFILE, or ENFILE)");
}

/** After the end of its process the pipe ends with what is in it, or is closed when that has been read. */
function closeWhenRead(pipe: Socket, onHeld: () => void): void {
  const sinceMs = performance.now();
  let readBefore = 0;
  const look = (): void => {
    if (pipe.closed) return;
    if (pipe.bytesRead !== readBefore && performance.now() - sinceMs < READ_LIMIT_MS) return lookLater();
    onHeld();
    pipe.destroy();
  };
  // A timer fires before what has arrived meanwhile is read, as this process may have been too busy for that.
  const lookLater = (): void => {
    readBefore = pipe.bytesRead;
    setTimeout(() => setImmediate(look), QUIET_MS).unref();
  };
  lookLater();
}

const SETPRIV = ["setpriv", "--pdeathsig", "KILL"] as const;

/**
 * The beginning of a command that the kernel kills as soon as its parent dies (PR_SET_PDEATHSIG, prctl(2)), faster than the slot's
 * own watchdog can be scheduled. Util-linux has it since 2.33. Without it this is empty, and the watchdog has to do: that takes
 * some milliseconds.
 */
export function deathLeash(): readonly string[] {
  const [command, ...args] = SETPRIV;
  return spawnSync(command, [...args, "true"], { stdio: "ignore", timeout: 2_000 }).status === 0 ? SETPRIV : [];
}
