import type { Writable } from "node:stream";
import { isObserverStopped, untilAborted } from "@unacked/sdk";
import { createBoundedEmitter } from "./bounded-emitter.ts";
import { environmentOf } from "./command-environment.ts";
import { printable, readComplaints } from "./complaints.ts";
import { type GuardedCommand, startGuardedCommand } from "./guarded-command.ts";
import { jsonLine } from "./json-line.ts";
import type { OutputLine } from "./line-reader.ts";
import type { ProcessContext } from "./process-context.ts";
import { failureOf, ProcessFailed } from "./process-failed.ts";
import { pauses, readLines } from "./read-lines.ts";
import { stopTimeOf } from "./stop-time.ts";
import { MAX_WORKER_LINE, readWorkerMessage, type WorkerMessage } from "./worker-message.ts";
import { WorkerSaves } from "./worker-saves.ts";

const maxUnconfirmedEvents = 64;
/** Of lines that are logged: a worker that says more waits. */
const logPace = { lines: 200, everyMs: 100 };
const quotedLength = 200;

/**
 * The protocol "json-lines" (docs/ways-in.md): the command is told its params and its checkpoint in a line of its standard input, and says in
 * lines of its standard output what is to be emitted, saved and logged. A stop is told in a line, too, and has half of `stopTimeoutMs`
 * before SIGTERM. An event that is lost fails the run, as what is saved behind it would pass over it: the next attempt has it again.
 */
export async function runWorker(context: ProcessContext): Promise<void> {
  const { params, signal, log } = context;
  const { command, args, cwd, silenceTimeoutMs } = params;
  const stopTimeoutMs = stopTimeOf(context);
  const toldMs = Math.floor(stopTimeoutMs / 2);
  const times = { stopTimeoutMs: stopTimeoutMs - toldMs, silenceTimeoutMs };
  const env = environmentOf(context);
  const guarded = startGuardedCommand({ command, args, env, cwd, ...times, folder: undefined, hasInput: true });
  const dialogue = new Dialogue(context, guarded, toldMs);
  const gone = new AbortController();
  void guarded.exited.then(() => gone.abort());
  const until = AbortSignal.any([signal, gone.signal]);
  const pause = pauses({ ...logPace, until });
  const hear = async (line: OutputLine): Promise<void> => {
    if (await dialogue.hear(line, readWorkerMessage(line))) await pause();
  };
  const hearRest = async (line: OutputLine): Promise<void> => {
    const message = readWorkerMessage(line);
    // Whoever is ended in the middle of a line has said nothing with it.
    if (message.kind === "broken") log.warn("its last line has no end, and is passed over", quoted(line));
    else await dialogue.hear(line, message);
  };
  const [exit, , stderrTail] = await Promise.all([
    guarded.exited,
    readLines(guarded.stdout, MAX_WORKER_LINE, hear, { onRest: hearRest }),
    readComplaints(guarded, log, until),
  ]);
  await dialogue.end();
  const failure = signal.aborted ? undefined : (dialogue.failure ?? failureOf(exit, stderrTail));
  if (failure !== undefined) throw failure;
}

/** What is said to a worker, and what becomes of what it says. */
class Dialogue {
  readonly #context: ProcessContext;
  readonly #guarded: GuardedCommand;
  readonly #input: Writable;
  readonly #toldMs: number;
  readonly #output;
  readonly #saves: WorkerSaves;
  readonly #onAbort = () => this.#stop(stopCode(this.#context.signal.reason));
  #saved = 0;
  #saidSaved = 0;
  #stopTimer: NodeJS.Timeout | undefined;
  failure: ProcessFailed | undefined;

  /** @param toldMs between the message `stop` and SIGTERM */
  constructor(context: ProcessContext, guarded: GuardedCommand, toldMs: number) {
    const { params, signal, observer, runId, fencingToken, checkpoint, emit, saveCheckpoint } = context;
    this.#context = context;
    this.#guarded = guarded;
    this.#input = guarded.stdin as Writable;
    this.#toldMs = toldMs;
    const emitOrFail = async (event: unknown): Promise<void> => {
      try {
        await emit(event);
      } catch (error) {
        this.#fail("event-lost", `an event of it was not published: ${String(error)}`);
        throw error;
      }
    };
    this.#output = createBoundedEmitter(emitOrFail, maxUnconfirmedEvents, signal);
    this.#saves = new WorkerSaves(
      (json) => saveCheckpoint({ json }),
      (number) => this.#saySaved(number),
      (error) => this.#fail("checkpoint-lost", `a checkpoint of it was not saved: ${String(error)}`),
    );
    const before = checkpoint !== undefined && "json" in checkpoint ? checkpoint.json : null;
    this.#input.on("drain", () => this.#saySaved(this.#saved));
    this.#say({
      start: {
        params: params.workerParams ?? {},
        observerId: observer.id,
        observerName: observer.name,
        runId,
        fencingToken,
        checkpoint: before,
      },
    });
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Whether it was logged. */
  async hear(line: OutputLine, message: WorkerMessage): Promise<boolean> {
    const { log, alive, signal } = this.#context;
    if (this.failure !== undefined) return false;
    switch (message.kind) {
      case "emit":
        await this.#output.send(message.event);
        return false;
      case "checkpoint":
        // Behind an event that was dropped, or that nobody was told, nothing is saved.
        if (this.#output.dropped() === 0 && !this.#output.hasLost()) this.#saves.take(message.value);
        return false;
      case "alive":
        alive();
        return false;
      case "log":
        log[message.level](message.message, message.fields);
        return true;
      case "stray":
        log.warn(`a line of its standard output is passed over: ${message.why}`, quoted(line));
        return true;
      case "broken":
        if (signal.aborted) log.warn(`nothing said from here on is saved: ${message.why}`, quoted(line));
        this.#fail("line-unreadable", `a line of its standard output cannot be read: ${message.why}: ${quoted(line).line}`);
        return true;
      default:
        return message satisfies never;
    }
  }

  /**
   * The worker is over, and all its lines have been heard. Unless it was stopped, resolves when all that it said is published and saved, or
   * refused: what is lost of it is a failure, although it ended well.
   */
  async end(): Promise<void> {
    const { signal, log } = this.#context;
    clearTimeout(this.#stopTimer);
    const stopped = untilAborted(signal);
    if (this.failure === undefined) await Promise.race([this.#output.settled(), stopped]);
    signal.removeEventListener("abort", this.#onAbort);
    const events = this.#output.dropped();
    if (events > 0) log.warn("events said after the stop were dropped", { events });
    this.#saves.finish();
    if (this.failure === undefined) await Promise.race([this.#saves.settled(), stopped]);
  }

  #stop(reason: string): void {
    if (reason === "lease-lost") return this.#guarded.kill();
    if (this.#stopTimer !== undefined) return;
    this.#say({ stop: { reason, withinMs: this.#toldMs } });
    this.#stopTimer = setTimeout(() => this.#guarded.stop(), this.#toldMs);
  }

  #fail(code: ProcessFailed["code"], message: string): void {
    this.#saves.discard(); // it would pass over what is lost, also after a stop
    if (this.failure !== undefined || this.#context.signal.aborted) return;
    this.failure = new ProcessFailed(code, printable(message));
    this.#stop("failed");
  }

  /** A worker that does not read is told of the latest only, once it does. */
  #saySaved(number: number): void {
    this.#saved = Math.max(this.#saved, number);
    if (this.#saved === this.#saidSaved || this.#input.writableNeedDrain) return;
    this.#saidSaved = this.#saved;
    this.#say({ saved: this.#saved });
  }

  #say(message: object): void {
    if (this.#input.writable) this.#input.write(jsonLine(message));
  }
}

const stopCode = (reason: unknown): string => (isObserverStopped(reason) ? reason.code : "stopped");

const quoted = ({ line }: OutputLine): { line: string } => ({
  line: line.length > quotedLength ? `${line.slice(0, quotedLength)}…` : line,
});
