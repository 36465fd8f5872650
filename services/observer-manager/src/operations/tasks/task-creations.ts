import { CreateTask, MAX_PARAMS_BYTES, PROBLEMS, type SendId, type TaskId, withoutHoles } from "@unacked/contracts";
import { jsonCheck } from "../../domain/json-check.ts";
import type { TaskWord } from "../../domain/tasks/task-words.ts";
import type { Refusal } from "../refusal.ts";
import { refusalOf } from "./creation-check.ts";
import type { NewTask, RefusedCreation, SendCreations, TaskTypeStore } from "./task-store.ts";

/** Of pools. */
const ALL = "*";

/**
 * What handlers want to be created, looked at as a request of REST is. Guarantees: what is not right is refused, with why, and holds up
 * neither its neighbours nor the end that it came with.
 */
export class TaskCreations {
  readonly #types: Pick<TaskTypeStore, "liveTypes">;
  readonly #pools: readonly string[];

  /** @param pools into which handlers of every pool may create; `*`: into all */
  constructor(types: Pick<TaskTypeStore, "liveTypes">, pools: readonly string[]) {
    this.#types = types;
    this.#pools = pools;
  }

  /** By send; only of those that have completed, and create some. Rejects when the database cannot be reached. */
  async of(words: readonly TaskWord[]): Promise<Map<SendId, SendCreations>> {
    const found = new Map<SendId, SendCreations>();
    const live = new Map<string, ReturnType<TaskTypeStore["liveTypes"]>>();
    for (const { sendId, taskId, pool, end } of words) {
      if (end?.outcome !== "completed" || end.creations === undefined || end.creations.length === 0) continue;
      const creations: SendCreations = { wanted: [], refused: [] };
      for (const json of end.creations) {
        const task = this.#read(json, taskId, pool);
        const refusal = "refusal" in task ? task.refusal : await this.#refusalOf(task, pool, live);
        if (refusal !== undefined) creations.refused.push(refusal);
        else creations.wanted.push(task as NewTask);
      }
      found.set(sendId, creations);
    }
    return found;
  }

  #read(json: string, parentId: TaskId, pool: string): NewTask | { refusal: RefusedCreation } {
    const body = parsed(json);
    const named = (body ?? {}) as { id?: unknown; type?: unknown };
    const about = { id: shown(named.id), type: shown(named.type) };
    const checked = jsonCheck(CreateTask, typeof body === "object" && body !== null ? { pool, ...body } : body);
    if (!checked.ok) return { refusal: toRefused(about, { code: "invalid-body", errors: checked.errors }) };
    const { id, ...task } = checked.value;
    if (id === undefined) return { refusal: { ...about, code: "invalid-body", detail: "it has no id" } };
    if (Buffer.byteLength(JSON.stringify(task.params)) > MAX_PARAMS_BYTES)
      return { refusal: { ...about, code: "body-too-large", detail: "the params are too large" } };
    return { ...task, id, parentId, within: this.#pools.includes(ALL) ? undefined : [pool, ...this.#pools] };
  }

  async #refusalOf(
    task: NewTask,
    parentPool: string,
    live: Map<string, ReturnType<TaskTypeStore["liveTypes"]>>,
  ): Promise<RefusedCreation | undefined> {
    const { pool } = task;
    if (pool !== parentPool && !this.#pools.includes(pool) && !this.#pools.includes(ALL)) {
      const detail = `tasks of the pool "${parentPool}" may not create in the pool "${pool}": TASK_CREATION_POOLS does not name it`;
      return { id: task.id, type: task.type, code: "forbidden", detail };
    }
    const known = live.get(pool) ?? this.#types.liveTypes(pool);
    live.set(pool, known);
    const { services, types, outside } = await known;
    const refusal = services === 0 ? undefined : refusalOf(task, types, outside);
    return refusal && toRefused(task, refusal);
  }
}

/** As it is shown with the creator. */
export function toRefused(
  { id, type }: { id: string; type: string },
  { code, detail, errors }: Omit<Refusal, "kind">,
): RefusedCreation {
  const places = (errors ?? []).slice(0, 5).map((error) => `${"pointer" in error ? error.pointer : ""}: ${error.message}`);
  const why = detail ?? (places.length > 0 ? places.join("; ") : PROBLEMS[code].title);
  // Cut in the middle of a character, it would be no JSON that the books can keep.
  return { id: withoutHoles(id), type: withoutHoles(type), code, detail: withoutHoles(why.slice(0, 1_000)) };
}

/** It may be anything that JSON can say, as an object whose `toString` is a number. */
const shown = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value).slice(0, 64) : "";

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
