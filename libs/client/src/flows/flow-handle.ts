import type { AnswerOf, CreatedFlow, FlowTaskView, FlowView, QueryOf } from "@unacked/contracts";
import type { Calls } from "../tasks/calls.ts";
import { untilOver, type WaitOptions } from "../tasks/until-over.ts";
import type { FlowStep, ResultsOf } from "./flow.ts";
import { FlowNotCompleted, FlowNotOver } from "./flow-errors.ts";

/**
 * How many pages in a row may time out. A page of large outputs may take longer than the client waits, and asking on and on
 * would load the manager for nothing.
 */
const MOST_TIMED_OUT = 5;

export class FlowHandle<Steps extends readonly FlowStep[] = readonly FlowStep[]> {
  readonly id: string;
  /** Undefined if this client did not create the flow. */
  readonly outcome: CreatedFlow["outcome"] | undefined;
  readonly #calls: Calls;

  constructor(calls: Calls, id: string, outcome?: CreatedFlow["outcome"]) {
    this.#calls = calls;
    this.id = id;
    this.outcome = outcome;
  }

  get(signal?: AbortSignal): Promise<FlowView> {
    return this.#calls.call("getFlow", { path: { flowId: this.id } }, signal);
  }

  /** The tasks of the flow, in the order of the create. */
  async *tasks({ outputs = false, signal }: { outputs?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<FlowTaskView> {
    yield* tasksOf((place) => this.#page({ outputs, ...place }, signal));
  }

  /**
   * Cancels the flow: tasks that do not run become Cancelled, running ones are told to end. Refused (`flow-over`) when it is
   * over.
   */
  cancel(signal?: AbortSignal): Promise<FlowView> {
    return this.#calls.call("cancelFlow", { path: { flowId: this.id } }, signal);
  }

  /** Runs the flow again from these tasks, or from all that did not complete. Refused (`flow-running`) until it is over. */
  rerun(from?: Steps[number]["ref"] | readonly Steps[number]["ref"][], signal?: AbortSignal): Promise<FlowView> {
    const body = from === undefined ? {} : { from: typeof from === "string" ? from : [...from] };
    return this.#calls.call("rerunFlow", { path: { flowId: this.id }, body }, signal);
  }

  /**
   * Waits until the flow is over, however it ended. Rejects with {@link FlowNotOver} after `timeoutMs`, else as a task's `result`
   * does.
   */
  wait(options: WaitOptions = {}): Promise<FlowView> {
    const awaited = {
      calls: this.#calls,
      look: (wait: string, signal: AbortSignal) =>
        this.#calls.call("getFlow", { path: { flowId: this.id }, query: { wait } }, signal),
      isOver: ({ status }: FlowView) => status !== "Running",
      notOver: (seen: FlowView | undefined, timeoutMs: number, cause: unknown) =>
        new FlowNotOver(this.id, seen, timeoutMs, cause),
    };
    return untilOver(awaited, options);
  }

  /**
   * Waits and returns the tasks' outputs, by ref. Rejects with {@link FlowNotCompleted} if the flow failed or was cancelled, and with the
   * CallError if a page of outputs could not be read in the client's own `timeoutMs`, five times in a row, each with the client's own
   * repeats.
   */
  async result(options: WaitOptions = {}): Promise<ResultsOf<Steps>> {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = options;
    const endMs = performance.now() + timeoutMs;
    const view = await this.wait(options);
    if (view.status !== "Completed") throw new FlowNotCompleted(view);
    const readPage = (place: Place) => {
      const awaited = {
        calls: this.#calls,
        look: (_: string, inTime: AbortSignal) => this.#page({ outputs: true, ...place }, inTime),
        isOver: () => true,
        notOver: (_: unknown, __: number, cause: unknown) => new FlowNotOver(this.id, view, timeoutMs, cause),
        mostTimedOut: MOST_TIMED_OUT,
      };
      return untilOver<TaskPage>(awaited, { signal, timeoutMs: endMs - performance.now() });
    };
    const results: [string, unknown][] = [];
    for await (const { ref, status, output } of tasksOf(readPage))
      results.push([ref, status === "Completed" ? output : undefined]);
    return Object.fromEntries(results) as ResultsOf<Steps>;
  }

  #page(query: QueryOf<"listFlowTasks">, signal: AbortSignal | undefined): Promise<TaskPage> {
    return this.#calls.call("listFlowTasks", { path: { flowId: this.id }, query }, signal);
  }
}

type TaskPage = AnswerOf<"listFlowTasks">;
type Place = { cursor?: string };

async function* tasksOf(read: (place: Place) => Promise<TaskPage>): AsyncGenerator<FlowTaskView> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read(cursor === undefined ? {} : { cursor });
    cursor = page.nextCursor;
    yield* page.items;
  }
}
