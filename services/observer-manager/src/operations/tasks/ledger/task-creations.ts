import { CreateTask, MAX_PARAMS_BYTES, PROBLEMS, type SendId, type TaskId, withoutHoles } from "@unacked/contracts";
import { jsonCheck } from "../../../domain/json-check.ts";
import type { TaskWord } from "../../../domain/tasks/task-words.ts";
import { checksOfCall } from "../../../domain/types/params-check.ts";
import { eachInSlices } from "../../in-slices.ts";
import type { Refusal } from "../../refusal.ts";
import { type PoolTypes, poolTypes, refusalOf } from "../creations/creation-check.ts";
import type { NewTask } from "../creations/new-task.ts";
import type { TaskTypeStore } from "../creations/task-type-store.ts";
import type { RefusedCreation, SendCreations } from "./task-ledger-store.ts";

/** It stands for all pools. */
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

  /** What each send creates; only of those that have completed, and create some. Rejects when the database cannot be reached. */
  async of(words: readonly TaskWord[]): Promise<Map<SendId, SendCreations>> {
    const found = new Map<SendId, SendCreations>();
    const wanted: Wanted[] = [];
    for (const { sendId, taskId, pool, end } of words) {
      if (end?.outcome !== "completed" || end.creations === undefined || end.creations.length === 0) continue;
      found.set(sendId, { wanted: [], refused: [] });
      wanted.push(...end.creations.map((json) => ({ json, sendId, taskId, pool })));
    }
    for (const { sendId, read } of await this.#check(wanted)) {
      const creations = found.get(sendId) as SendCreations;
      if ("refusal" in read) creations.refused.push(read.refusal);
      else creations.wanted.push(read);
    }
    return found;
  }

  /** Checks in slices: one bundle of handlers' ends may create many thousands. */
  async #check(wanted: readonly Wanted[]): Promise<Checked[]> {
    const all = await eachInSlices(wanted, (one) => ({ ...one, read: this.#read(one.json, one.taskId, one.pool) }));
    const pools = new Set(all.flatMap(({ read }) => ("refusal" in read ? [] : [read.pool])));
    const live = new Map<string, PoolTypes>();
    for (const pool of pools) live.set(pool, await poolTypes(this.#types, pool));
    const checks = checksOfCall();
    return await eachInSlices(all, ({ read, ...one }) => {
      const refusal = "refusal" in read ? undefined : refusalOf(read, live.get(read.pool), checks);
      return { ...one, read: refusal === undefined ? read : { refusal: toRefused(read as NewTask, refusal) } };
    });
  }

  #read(json: string, parentId: TaskId, pool: string): Read {
    const body = parsed(json);
    const named = (body ?? {}) as { id?: unknown; type?: unknown };
    const about = { id: shown(named.id), type: shown(named.type) };
    const checked = jsonCheck(CreateTask, typeof body === "object" && body !== null ? { pool, ...body } : body);
    if (!checked.ok) return { refusal: toRefused(about, { code: "invalid-body", errors: checked.errors }) };
    const { id, ...task } = checked.value;
    if (id === undefined) return { refusal: { ...about, code: "invalid-body", detail: "it has no id" } };
    if (Buffer.byteLength(JSON.stringify(task.params)) > MAX_PARAMS_BYTES)
      return { refusal: { ...about, code: "body-too-large", detail: "the params are too large" } };
    if (!this.#mayCreate(pool, task.pool)) {
      const detail = `tasks of the pool "${pool}" may not create in the pool "${task.pool}": TASK_CREATION_POOLS does not name it`;
      return { refusal: { id, type: task.type, code: "forbidden", detail } };
    }
    return { ...task, id, parentId, within: this.#pools.includes(ALL) ? undefined : [pool, ...this.#pools] };
  }

  #mayCreate(parentPool: string, pool: string): boolean {
    return pool === parentPool || this.#pools.includes(pool) || this.#pools.includes(ALL);
  }
}

/** What a handler of that task, in that pool, wants to be created. */
interface Wanted {
  json: string;
  sendId: SendId;
  taskId: TaskId;
  pool: string;
}

type Read = NewTask | { refusal: RefusedCreation };

interface Checked {
  sendId: SendId;
  read: Read;
}

/** The refusal as it is shown with the creator. */
export function toRefused(
  { id, type }: { id: string; type: string },
  { code, detail, errors }: Omit<Refusal, "kind">,
): RefusedCreation {
  const places = (errors ?? []).slice(0, 5).map((error) => `${"pointer" in error ? error.pointer : ""}: ${error.message}`);
  const why = detail ?? (places.length > 0 ? places.join("; ") : PROBLEMS[code].title);
  // Cut in the middle of a character, it would be no JSON that the books can keep.
  return { id: withoutHoles(id), type: withoutHoles(type), code, detail: withoutHoles(why.slice(0, 1_000)) };
}

/** The value may be anything that JSON can say, as an object whose `toString` is a number. */
const shown = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value).slice(0, 64) : "";

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
