import type { BatchedTask, ObserverDefinition, ObserverLog, TaskDefinition } from "@unacked/sdk";
import { type BatchOutcome, batchOutcomes, inputsOf, outputJson, paramsIssuesText, parseParams } from "@unacked/sdk/host";
import { sendableText, thrownText } from "../error-text.ts";
import type { BatchMember, MemberResult, MemberWord } from "../wire/attempt.ts";
import { MemberSignals } from "./member-signals.ts";
import { isFinal } from "./task-handler.ts";

export interface BatchHandlerParts {
  readonly definition: TaskDefinition;
  readonly members: readonly BatchMember[];
  /** Takes the results of some tasks, or why they failed. For the others the outcome of the call counts. */
  tell(results: readonly MemberResult[]): void;
}

/** The bound of results that are sent together, as JSON, except for the last of them: far below the bound of a frame. */
const MAX_TOLD_CHARS = 262_144;

/**
 * One call for many tasks, in the form in which handlers are entered. Tasks whose params do not pass are reported, and left out.
 */
export class BatchHandler {
  readonly #parts: BatchHandlerParts;
  readonly #signals = new MemberSignals();

  constructor(parts: BatchHandlerParts) {
    this.#parts = parts;
  }

  get definition(): ObserverDefinition {
    const { type } = this.#parts.definition;
    const { params } = this.#parts.definition;
    return { type, params, run: ({ signal, log }) => this.#run(signal, log) };
  }

  /** This one is to end; the others go on. @param reason of its signal */
  abort(taskId: string, reason: unknown): void {
    this.#signals.abort(taskId, reason);
  }

  async #run(signal: AbortSignal, log: ObserverLog): Promise<void> {
    const { definition, tell } = this.#parts;
    const tasks = this.#tasks();
    if (tasks.length === 0) return;
    this.#signals.follow(signal);
    // It is not final, as the type took batches where it was sent from.
    if (definition.runBatch === undefined) throw new Error("the code of this slot takes no batches of its type any more");
    const returned = await definition.runBatch(tasks, { signal, log });
    if (signal.aborted) return;
    const strange = (taskId: string) => log.warn("runBatch returned a result for a task that it was not given", { taskId });
    const results = [...batchOutcomes(tasks, returned, strange)].map(([taskId, outcome]) => ({
      taskId,
      ...this.#wordOf(outcome),
    }));
    for (const part of partsOf(results)) tell(part);
  }

  #tasks(): BatchedTask[] {
    const { definition, members, tell } = this.#parts;
    return members.flatMap(({ taskId, params: given, attempt, inputs }) => {
      const parsed = parseParams(definition, given);
      if (parsed.ok) {
        try {
          const task = { taskId, attempt, params: parsed.params, ...inputsOf(definition, inputs) };
          return [this.#signals.addTo(task)];
        } catch (error) {
          tell([{ taskId, ...failed(error as Error) }]); // the batch can go on without this one
          return [];
        }
      }
      const error = { name: "InvalidParams", message: sendableText(paramsIssuesText(parsed.issues), 16_384) };
      tell([{ taskId, error, isFinal: true }]);
      return [];
    });
  }

  #wordOf(outcome: BatchOutcome): MemberWord {
    try {
      if ("error" in outcome) return failed(outcome.error);
      return { output: outputJson(this.#parts.definition, outcome.output) };
    } catch (error) {
      return failed(error as Error); // its params do not pass
    }
  }
}

function* partsOf(results: readonly MemberResult[]): Generator<MemberResult[]> {
  let part: MemberResult[] = [];
  let chars = 0;
  for (const result of results) {
    part.push(result);
    chars += (result.output?.length ?? 0) + (result.error === undefined ? 0 : JSON.stringify(result.error).length);
    if (chars <= MAX_TOLD_CHARS) continue;
    yield part;
    part = [];
    chars = 0;
  }
  if (part.length > 0) yield part;
}

const failed = (error: Error): MemberWord => ({ error: thrownText(error), ...(isFinal(error) && { isFinal: true }) });
