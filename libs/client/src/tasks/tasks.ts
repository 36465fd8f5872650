import { type BodyOf, newUuid, type QueryOf, type TaskView } from "@unacked/contracts";
import type { AnyProblem } from "../call-error.ts";
import { pause } from "../event-stream.ts";
import { type Calls, failCreate, longestWaitMs } from "./calls.ts";
import { TakenTask } from "./taken-task.ts";
import { TaskHandle } from "./task-handle.ts";
import { type OutputOf, type ParamsOf, type TaskKind, typeOf } from "./task-kind.ts";

/** Without an `id` the client makes one, so that the call can be repeated if nobody answered. */
export type TaskOptions = Omit<BodyOf<"createTask">, "type" | "params">;
export type NewTask<Kind> = TaskOptions & { params: ParamsOf<Kind> };
export type TaskCreateResult<Kind> = { task: TaskHandle<OutputOf<Kind>> } | { problem: AnyProblem };

interface TakeOptions extends Omit<BodyOf<"takeTasks">, "types" | "wait"> {
  /** How long to wait for a task if there is none. Default: not at all. */
  waitMs?: number;
  signal?: AbortSignal;
}

const MAX_WAIT_MS = 30_000;
const LEAST_ROUND_MS = 1_000;
/** The bounds of one call: well below what a manager of 512 MiB takes, whatever the characters and values are. */
const MAX_CHUNK = 1_000;
const MAX_CHUNK_LENGTH = 1_500_000;

/** The tasks of one manager. Each call fails with a CallError, as all calls of the client do. */
export class Tasks {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Accepted means that it ends once in the books. A failure has the task's id in its `ids`, also where `signal` ended it: a CallError of the
   * kind `aborted`, named as the signal's reason is. @param kind a definition of `defineTask`, or the name of a type
   */
  async create<Kind extends TaskKind = TaskKind>(
    kind: Kind | string,
    params: ParamsOf<Kind>,
    { signal, id: own = newUuid(), ...options }: TaskOptions & { signal?: AbortSignal } = {},
  ): Promise<TaskHandle<OutputOf<Kind>>> {
    const body = { ...options, id: own, type: typeOf(kind), params };
    const failed = failCreate(this.#calls, "createTask", [own], signal);
    const { id, outcome } = await this.#calls.call("createTask", { body }, signal).catch(failed);
    return new TaskHandle(this.#calls, id, outcome);
  }

  /**
   * Creates each task by itself, answered in the order given (only with receipts). If a call fails in the middle, or `signal` ends it
   * there, what was accepted stays so: with the `ids` of the error it can be repeated.
   */
  async createMany<Kind extends TaskKind = TaskKind>(
    kind: Kind | string,
    tasks: readonly NewTask<Kind>[],
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<TaskCreateResult<Kind>[]> {
    const results: TaskCreateResult<Kind>[] = [];
    const bodies = tasks.map(({ id = newUuid(), ...task }) => ({ ...task, id, type: typeOf(kind) }));
    const ids = bodies.map(({ id }) => id);
    const failed = failCreate(this.#calls, "createTasks", ids, signal);
    for (const chunk of [...chunksOf(bodies)]) {
      const answer = await this.#calls.callMinimal("createTasks", { body: { tasks: chunk } }, signal).catch(failed);
      for (const result of answer.results)
        results.push(
          "problem" in result
            ? { problem: result.problem }
            : { task: new TaskHandle(this.#calls, result.task.id, result.task.outcome) },
        );
    }
    return results;
  }

  /** A handle for a task that was created elsewhere: `handle<typeof resize>(id)`. */
  handle<Kind extends TaskKind = TaskKind>(id: string): TaskHandle<OutputOf<Kind>> {
    return new TaskHandle(this.#calls, id);
  }

  /** Lists tasks, the newest first. */
  async *list(
    filter: Omit<QueryOf<"listTasks">, "limit" | "cursor"> = {},
    options: { limit?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<TaskView> {
    for await (const { items } of this.#calls.pages("listTasks", filter, options)) yield* items;
  }

  /**
   * Takes tasks to work on them here: up to `count` (1) of these types, the most urgent first, for `leaseMs` (60,000). An empty list
   * means that there was none in time.
   */
  async take<Kind extends TaskKind = TaskKind>(
    kinds: Kind | string | readonly (Kind | string)[],
    { waitMs = 0, signal, ...options }: TakeOptions = {},
  ): Promise<TakenTask<ParamsOf<Kind>, OutputOf<Kind>>[]> {
    const types = (isList(kinds) ? kinds : [kinds]).map(typeOf);
    const endMs = performance.now() + waitMs;
    for (;;) {
      const beganMs = performance.now();
      const wait = Math.floor(Math.min(MAX_WAIT_MS, longestWaitMs(this.#calls), Math.max(0, endMs - beganMs)));
      const { tasks } = await this.#calls.call("takeTasks", { body: { ...options, types, wait } }, signal);
      if (tasks.length > 0 || performance.now() >= endMs) return tasks.map((task) => new TakenTask(this.#calls, task));
      // A manager that stops, or has too many waiting takers, answers at once.
      await pause(Math.min(endMs, beganMs + LEAST_ROUND_MS) - performance.now(), signal);
      signal?.throwIfAborted();
    }
  }
}

const isList = <Item>(one: Item | readonly Item[]): one is readonly Item[] => Array.isArray(one);

/** Splits the bodies in order, each chunk small enough for one call. */
function* chunksOf<Body>(bodies: readonly Body[]): Generator<Body[]> {
  let chunk: Body[] = [];
  let length = 0;
  for (const body of bodies) {
    const bodyLength = JSON.stringify(body).length;
    if (chunk.length === MAX_CHUNK || (chunk.length > 0 && length + bodyLength > MAX_CHUNK_LENGTH)) {
      yield chunk;
      chunk = [];
      length = 0;
    }
    chunk.push(body);
    length += bodyLength;
  }
  if (chunk.length > 0) yield chunk;
}
