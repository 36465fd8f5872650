import { randomUUID } from "node:crypto";
import { Creations, type TaskCreation } from "./creations.ts";
import { type GivenInput, inputsOf, type KeptOf, type MissingInput } from "./inputs.ts";
import type { LogLevel, ObserverLog } from "./observer-context.ts";
import { isObserverStopped, ObserverStopped } from "./observer-stopped.ts";
import { paramsIssuesText, parseSent } from "./params.ts";
import { Postponing, TaskPostponed } from "./postpone.ts";
import { SdkError } from "./sdk-error.ts";
import type { LoggedLine, Spy } from "./spy.ts";
import { handlerOf, isTaskDefinition, type TaskDefinition } from "./task-definition.ts";
import { outputJson } from "./task-output.ts";
import { taskTimeoutError } from "./task-timeout-error.ts";

/** How long a handler in memory whose signal has aborted is waited for. */
const SETTLE_MS = 500;

/** What an attempt in memory begins with; all of it may be left out. */
export type TaskRunOptions = {
  /** As a client would send them; checked by the type's schema as on a service. Default `{}`. */
  readonly params?: unknown;
  /** Of a task of a flow: what those that it comes after have returned, by ref. Default: none. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Those of them that have failed, or were cancelled, by ref. Default: none. */
  readonly missing?: Readonly<Record<string, MissingInput>>;
  /** Which attempt it is, from 1. Default 1. */
  readonly attempt?: number;
  /** UUID of the task. Default: a random one. */
  readonly taskId?: string;
  /** When it aborts, the handler's does, with the same reason. Default: nothing aborts it but `timeoutMs`. */
  readonly signal?: AbortSignal;
  /** Sees what the handler logs as it does, and what it has created when it has completed. */
  readonly spy?: Spy;
  /** Told of each line that the handler logs. */
  readonly onLog?: (line: LoggedLine) => void;
  /** Told of each task that the handler has created, when it has completed. */
  readonly onCreate?: (task: TaskCreation) => void;
};

/**
 * One attempt of a task in memory, with no broker and no service: for tests of a handler. Resolves with the result as it would be kept
 * (after its schema and JSON); rejects as the attempt fails: with what the handler threw, with `invalid-params` or `invalid-output`,
 * or with the signal's reason when `timeoutMs` is over or the signal aborts: when the handler has settled, and half a second later if it
 * does not. A handler that postpones its task rejects with `TaskPostponed`, whatever it does after that, also
 * where the signal aborts as `draining` or `restarted`. From `emergency.fromAttempt` on the emergency handler runs.
 *
 * @example
 * ```ts
 * import { defineTask, runTask } from "@unacked/sdk";
 * import { z } from "zod";
 *
 * const words = defineTask({
 *   type: "words",
 *   params: z.strictObject({ text: z.string() }),
 *   run: async ({ params }) => params.text.split(" ").length,
 * });
 * await runTask(words, { params: { text: "count these words" } }); // 3
 * ```
 */
export async function runTask<P, R, I, T>(
  definition: TaskDefinition<P, R, I, T>,
  options: TaskRunOptions = {},
): Promise<KeptOf<T>> {
  if (!isTaskDefinition(definition)) throw new SdkError("invalid-definition", "runTask takes what defineTask gave");
  const parsed = parseSent(definition, options.params ?? {});
  if (!parsed.ok) throw new SdkError("invalid-params", paramsIssuesText(parsed.issues));
  const ending = new AbortController();
  const { signal: outer } = options;
  const { timeoutMs } = definition;
  const abort = () => ending.abort(outer?.reason);
  if (outer?.aborted) abort();
  outer?.addEventListener("abort", abort, { once: true });
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => ending.abort(timeIsUp(timeoutMs)), timeoutMs);
  const { attempt = 1 } = options;
  const postponing = new Postponing();
  const creations = new Creations();
  let isGivenUp = false;
  options.spy?.begin();
  try {
    ending.signal.throwIfAborted();
    const settled = handlerOf(definition, attempt).run({
      params: parsed.params,
      ...inputsOf(definition, givenOf(options)),
      signal: ending.signal,
      log: logTo((line) => {
        options.spy?.note("log", line);
        options.onLog?.(line);
      }),
      attempt,
      taskId: options.taskId ?? randomUUID(),
      postpone: postponing.postpone,
      tasks: creations,
    });
    const value = await settledOf(settled, ending.signal, () => void (isGivenUp = true));
    ending.signal.throwIfAborted();
    if (postponing.asked === undefined) {
      const output = JSON.parse(outputJson(definition, value)) as KeptOf<T>;
      for (const task of creations.json.map((json) => JSON.parse(json) as TaskCreation)) {
        options.spy?.note("task", task);
        options.onCreate?.(task);
      }
      return output;
    }
  } catch (thrown) {
    // Whatever it throws by then, a service goes by why it was told to end.
    if (postponing.asked === undefined || isGivenUp) throw ending.signal.aborted ? ending.signal.reason : thrown;
  } finally {
    creations.close();
    clearTimeout(timer);
    options.spy?.end("the attempt ended");
    outer?.removeEventListener("abort", abort);
  }
  if (ending.signal.aborted && !isInterruption(ending.signal.reason)) throw ending.signal.reason;
  throw new TaskPostponed(postponing.asked);
}

function timeIsUp(timeoutMs: number): ObserverStopped {
  const cause = taskTimeoutError(timeoutMs);
  return new ObserverStopped("failed", cause.message, { cause });
}

/** A task that is told to end by these is to go on, and a service has it go on when its handler has asked for that. */
const isInterruption = (reason: unknown): boolean =>
  isObserverStopped(reason) && (reason.code === "draining" || reason.code === "restarted");

/** Time to clean up, and to say what became of it; a handler that ignores its signal is not waited for. */
function settledOf<R>(settled: Promise<R>, signal: AbortSignal, onGivenUp: () => void): Promise<R> {
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    const giveUp = () => {
      onGivenUp();
      reject(signal.reason);
    };
    const wait = () => {
      timer = setTimeout(giveUp, SETTLE_MS);
    };
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true });
  });
  return Promise.race([settled, givenUp]).finally(() => clearTimeout(timer));
}

/** As they would come over the wire. */
const givenOf = ({ inputs = {}, missing = {} }: TaskRunOptions): GivenInput[] => [
  ...Object.entries(inputs).map(([ref, output]) => ({
    ref,
    status: "Completed" as const,
    output: JSON.stringify(output ?? null),
  })),
  ...Object.entries(missing).map(([ref, { status, error }]) => ({ ref, status, error })),
];

function logTo(onLog: (line: LoggedLine) => void): ObserverLog {
  const line =
    (level: LogLevel): ObserverLog["info"] =>
    (message, fields) =>
      onLog({ level, message, ...(fields && { fields }) });
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}
