import { type ErrorText, MAX_UPDATE_REASON } from "@unacked/contracts";
import type { RunOutcome, TaskDefinition } from "@unacked/sdk";
import { isTaskDefinition, paramsIssuesText, parseParams } from "@unacked/sdk/host";
import type { Tracing } from "@unacked/tracing";
import { sendableText, thrownText } from "../error-text.ts";
import { lookAs } from "../isolation.ts";
import type { AttemptHost, MemberResult, TaskWord, UpdateWord } from "../wire/attempt.ts";
import type { FrameWriter } from "../wire/frames.ts";
import type { Begin, FromSlot, ToSlot } from "../wire/messages.ts";
import type { SilenceWatch } from "../wire/silence-watch.ts";
import { type StartedAttempt, startAttempt } from "./attempt.ts";
import { BatchHandler } from "./batch-handler.ts";
import { checkpointFlaw } from "./checkpoint-flaw.ts";
import { LateActs } from "./late-acts.ts";
import type { ObserverTypes, TaskTypes } from "./load-observers.ts";
import { asLate, type SlotRun, slotRunOf } from "./slot-run.ts";
import { stopReason } from "./stop-reason.ts";
import { asHandler, isFinal, wordOf } from "./task-handler.ts";
import { Turns } from "./turns.ts";
import { WireLog } from "./wire-log.ts";
import { WireOutput } from "./wire-output.ts";
import { WireSaves } from "./wire-saves.ts";

/**
 * Runs handlers for the keeper. Receives starts, aborts, answers to emits. Guarantees: each start is answered by exactly one `bad-params`,
 * `not-begun` or `settled`, for as long as this process lives; when it dies the keeper knows, and starts its handlers elsewhere.
 */
export class SlotHost {
  readonly #types: ObserverTypes;
  readonly #tasks: TaskTypes;
  readonly #send: (message: FromSlot) => void;
  /** When this returns, everything sent is on its way. */
  readonly #flush: () => void;
  readonly #log: WireLog;
  readonly #output: WireOutput;
  readonly #saves: WireSaves;
  readonly #late: LateActs;
  readonly #host: AttemptHost<SlotRun>;
  readonly #watch: SilenceWatch;
  readonly #running = new Map<number, { run: SlotRun; attempt: StartedAttempt }>();
  readonly #turns = new Turns((begins) => this.#beginAfterOthers(begins));

  constructor(parts: {
    types: ObserverTypes;
    tasks: TaskTypes;
    wire: FrameWriter<FromSlot>;
    logLevel: string;
    stopTimeoutMs: number;
    saveEveryMs: number;
    tracing: Tracing | undefined;
    watch: SilenceWatch;
  }) {
    this.#types = parts.types;
    this.#tasks = parts.tasks;
    const { wire } = parts;
    this.#send = (message) => wire.send(message);
    this.#flush = () => wire.flush();
    this.#watch = parts.watch;
    this.#log = new WireLog(wire, parts.logLevel);
    this.#output = new WireOutput(this.#send);
    this.#saves = new WireSaves(this.#send);
    this.#late = new LateActs((late) => this.#send({ kind: "late", ...late }));
    this.#host = this.#hostOfAttempts(parts);
  }

  /** How many have begun, but not settled. */
  get running(): number {
    return this.#running.size;
  }

  take(message: Exclude<ToSlot, { kind: "load" | "end" | "collect" | "hold-silence" }>): void {
    switch (message.kind) {
      case "begin": {
        const { line } = message;
        if (line === undefined) return this.#begin(message);
        return this.#turns.enter(message, line, this.#running.has(line)) ? this.#beginAfterOthers([message]) : undefined;
      }
      case "recall":
        return this.#recall(message.attempt);
      case "abort": {
        const running = this.#running.get(message.attempt);
        if (running === undefined) return this.#recall(message.attempt);
        return running.attempt.abort(message.cause);
      }
      case "update":
        return this.#running.get(message.attempt)?.attempt.update?.(message);
      case "abort-member": {
        const { run, attempt } = this.#running.get(message.attempt) ?? {};
        return attempt?.enter(() => run?.batch?.abort(message.taskId, stopReason(message.cause)));
      }
      case "emitted":
        return this.#output.answered(message.emit, message.error);
      case "saved":
        return this.#saves.answered(message.save, message.error);
      case "logged":
        return this.#log.written(message.lines);
      default:
        return message satisfies never;
    }
  }

  /** The lease is gone, and the keeper could not say so. If it still holds it, it begins these again, once they have ended. */
  abortAll(): void {
    for (const attempt of this.#turns.takeOutAll()) this.#send({ kind: "not-begun", attempt });
    for (const [id, { attempt }] of [...this.#running]) {
      this.#send({ kind: "fenced", attempt: id });
      attempt.abort({ kind: "lease-lost" });
    }
  }

  #begin(begin: Begin): void {
    const { attempt, runId, type, params, taskAttempt, inputs, members, checkpoint } = begin;
    const definition = taskAttempt === undefined ? this.#types.get(type) : this.#tasks.get(type);
    if (definition === undefined) return this.#refuse(begin, `this slot does not have the type ${type}`);
    const run = slotRunOf(begin, this.#log.of(attempt));
    if (members !== undefined && isTaskDefinition(definition)) return this.#beginBatch(run, definition, members);
    const parsed = lookAs(runId, () => parseParams(definition, params));
    if (!parsed.ok) return this.#refuse(begin, paramsIssuesText(parsed.issues));
    const unreadable = isTaskDefinition(definition)
      ? undefined
      : lookAs(runId, () => checkpointFlaw(definition, checkpoint));
    if (unreadable !== undefined) return this.#send({ kind: "bad-params", attempt, error: unreadable });
    const keep = (word: TaskWord) => void (run.word = word);
    const typeOf = (name: string) => this.#tasks.get(name);
    const handler = isTaskDefinition(definition)
      ? asHandler(definition, { attempt: taskAttempt ?? 1, inputs }, { keep, typeOf })
      : definition;
    this.#running.set(attempt, { run, attempt: startAttempt(this.#host, run, handler, parsed.params, this.#watch) });
  }

  #beginBatch(run: SlotRun, definition: TaskDefinition, members: NonNullable<Begin["members"]>): void {
    const { attempt } = run;
    const tell = (results: readonly MemberResult[]) => this.#send({ kind: "results", attempt, results });
    run.batch = new BatchHandler({ definition, members, tell });
    this.#running.set(attempt, { run, attempt: startAttempt(this.#host, run, run.batch.definition, null) });
  }

  #refuse({ attempt, line = attempt }: Begin, problem: string): void {
    this.#send({ kind: "bad-params", attempt, error: { name: "InvalidParams", message: sendableText(problem, 16_384) } });
    this.#turns.ended(line);
  }

  /** If one of these ends the process, those before it have ended, so their ends are sent to the keeper first. */
  #beginAfterOthers(begins: Begin[]): void {
    this.#flush();
    for (const begin of begins) this.#begin(begin);
  }

  /** If it has not begun, it does not. */
  #recall(attempt: number): void {
    if (this.#turns.takeOut(attempt)) this.#send({ kind: "not-begun", attempt });
  }

  #hostOfAttempts({
    stopTimeoutMs,
    saveEveryMs,
    tracing,
  }: Record<"stopTimeoutMs" | "saveEveryMs", number> & { tracing: Tracing | undefined }): AttemptHost<SlotRun> {
    return {
      saving: { save: (run, json) => this.#saves.save(run.attempt, json), everyMs: saveEveryMs },
      publish: (run, eventJson) => this.#output.emit(run.attempt, eventJson),
      stopTimeoutMs,
      tracing: tracing && {
        within: ({ traceContext }, act) => (traceContext === undefined ? act() : tracing.within(traceContext, act)),
        idsInside: () => tracing.activeIds(),
      },
      // The keeper keeps a handler's last lines, as lines and values pass it.
      tailOf: ({ attempt }) => ({
        line: () => undefined,
        value: () => undefined,
        thrown: (what, error) => this.#send({ kind: "thrown", attempt, what, error }),
      }),
      onSettled: (run, outcome) => this.#settled(run, outcome),
      onUncaught: ({ attempt }, error) =>
        this.#send({ kind: "uncaught", attempt, error: thrownText(error), ...(isFinal(error) && { isFinal: true }) }),
      onLate: (run, thrown) => this.#late.note(asLate(run), thrown),
      onSilence: ({ attempt }, quietForMs) => this.#send({ kind: "silence", attempt, quietForMs }),
      onUpdated: ({ attempt }, word) => this.#send({ kind: "updated", attempt, ...sendable(word) }),
      onStuck: () => undefined, // the keeper counts for itself, as this process may not be able to
    };
  }

  #settled(run: SlotRun, outcome: RunOutcome): void {
    this.#running.delete(run.attempt);
    const events = this.#output.settled(run.attempt);
    // Sent now, as lines of a settled run are dropped.
    if (events > 0)
      run.log.warn({ event: "emits-dropped", events }, "it ended before these emits were sent: it had not awaited them");
    const { error, ...word } = lookAs(run.runId, () => endOf(outcome, run.word));
    this.#log.settled(run.attempt);
    this.#send({ kind: "settled", attempt: run.attempt, outcome: outcome.outcome, ...(error && { error }), ...word });
    this.#turns.ended(run.line);
  }
}

/** The report of its end. To look at what was thrown runs its author's code. */
function endOf(outcome: RunOutcome, kept: TaskWord | undefined): TaskWord & { error?: ErrorText } {
  const word = wordOf(outcome, kept);
  if (outcome.outcome === "completed" || outcome.error === undefined) return word;
  return { ...word, error: thrownText(outcome.error) };
}

const sendable = ({ reason, ...word }: UpdateWord): UpdateWord => ({
  ...word,
  ...(reason !== undefined && { reason: sendableText(reason, MAX_UPDATE_REASON) }),
});
