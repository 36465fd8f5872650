import type { CreateTask, TaskId } from "@unacked/contracts";
import { KnownTypes } from "../../../domain/types/known-types.ts";
import { type ChecksOfCall, checksOfCall } from "../../../domain/types/params-check.ts";
import { eachInSlices } from "../../in-slices.ts";
import type { Refusal } from "../../refusal.ts";
import { type LivePools, unknownTypes } from "../../types/unknown-type.ts";
import type { TaskCreateOutcome } from "../task-tools.ts";
import type { InsertOutcome } from "./insert-outcome.ts";
import type { TaskTypeStore } from "./task-type-store.ts";

/** What a creation is held against. */
export type CreationTypes = Pick<TaskTypeStore, "liveTypes" | "thereAmong"> & LivePools;

/** What living services of a pool announced; all requests of a call are held against it. */
export interface PoolTypes {
  services: number;
  known: KnownTypes;
  outside: string[];
}

export async function poolTypes(store: Pick<TaskTypeStore, "liveTypes">, pool: string): Promise<PoolTypes> {
  const { types, ...others } = await store.liveTypes(pool);
  return { ...others, known: new KnownTypes(types) };
}

/**
 * Puts a refusal in the place of each that a living service would refuse. With no living service of the pool nothing can be checked, and a
 * task may wait for one. One that is repeated is what it was: services that have its type may be away just then, and it makes no new one.
 */
export async function checkCreations(
  store: CreationTypes,
  requests: readonly (CreateTask | Refusal)[],
): Promise<(CreateTask | Refusal)[]> {
  const pools = [...new Set(requests.flatMap((one) => ("kind" in one ? [] : [one.pool])))];
  const live = new Map<string, PoolTypes>();
  for (const pool of pools) live.set(pool, await poolTypes(store, pool));
  const checks = checksOfCall();
  const checked = await eachInSlices(requests, (request) => {
    if ("kind" in request) return request;
    return refusalOf(request, live.get(request.pool), checks) ?? request;
  });
  return withPools(requests, await withThere(requests, checked, store), store);
}

/** A refused one that is there by its id is no refusal. The books are asked only where one with an id was refused. */
async function withThere(
  requests: readonly (CreateTask | Refusal)[],
  checked: (CreateTask | Refusal)[],
  store: CreationTypes,
): Promise<(CreateTask | Refusal)[]> {
  const refusedId = (i: number): TaskId | undefined => {
    const [request, one] = [requests[i], checked[i]];
    if (request === undefined || one === undefined || "kind" in request || !("kind" in one)) return undefined;
    return request.id;
  };
  const ids = requests.flatMap((_, i) => refusedId(i) ?? []);
  if (ids.length === 0) return checked;
  const there = new Set(await store.thereAmong(ids));
  return checked.map((one, i) => {
    const id = refusedId(i);
    return id !== undefined && there.has(id) ? (requests[i] as CreateTask) : one;
  });
}

/** Somebody who meant another pool is told which there are; asked for only where one was refused. */
async function withPools(
  requests: readonly (CreateTask | Refusal)[],
  checked: (CreateTask | Refusal)[],
  store: LivePools,
): Promise<(CreateTask | Refusal)[]> {
  const isUnknown = (one: CreateTask | Refusal | undefined): one is Refusal =>
    one !== undefined && "kind" in one && one.code === "unknown-type";
  if (!checked.some(isUnknown)) return checked;
  const unknownType = unknownTypes("tasks", await store.livePools());
  return checked.map((one, i) => {
    const request = requests[i];
    const isNew = request !== undefined && !("kind" in request);
    return isUnknown(one) && isNew ? unknownType(one, request) : one;
  });
}

/** Whether a living service of its pool takes it; with none there nothing can be checked. */
export function refusalOf(
  { type, params, pool }: CreateTask,
  live: PoolTypes | undefined,
  checks: ChecksOfCall,
): Refusal | undefined {
  if (live === undefined || live.services === 0) return undefined;
  const { known, outside } = live;
  const errors = known.problemsOf(type, params, checks);
  if (errors !== undefined) return errors.length === 0 ? undefined : { kind: "problem", code: "invalid-body", errors };
  if (outside.includes(type)) return undefined;
  const detail = `No living service of the pool "${pool}" knows the task type "${type}"`;
  return { kind: "problem", code: "unknown-type", detail, knownTypes: known.names };
}

/**
 * The outcomes of all that were asked for, in that order; `inserted` are those of the ones that were not refused.
 *
 * @param again how one whose key or id is held up is asked for once more
 */
export function outcomesOf(
  checked: readonly (CreateTask | Refusal)[],
  inserted: readonly InsertOutcome[],
  again?: string,
): TaskCreateOutcome[] {
  let next = 0;
  return checked.map((one) => {
    if ("kind" in one) return one;
    const outcome = inserted[next++] as InsertOutcome;
    if (outcome.kind === "taken") return { kind: "problem", code: "id-taken" };
    if (outcome.kind === "held-up") return heldUp(one, again);
    if (outcome.kind === "key-elsewhere") return { kind: "problem", code: "forbidden", detail: ofOtherPool(one.key) };
    return outcome.kind === "key-taken" ? keyTaken(outcome.winner) : outcome;
  });
}

/** Something may be due. A task that was queued counts, too: a claim passes over a row that is locked just then. */
export const isChange = (outcome: InsertOutcome): boolean =>
  "task" in outcome && outcome.kind !== "exists" && outcome.kind !== "returned";

export const keyTaken = (taskId: TaskId): Refusal => ({ kind: "problem", code: "key-taken", taskId });

export const ofOtherPool = (key = ""): string =>
  `The key "${key}" is that of a task of this type in another pool, in which you may not create`;

interface HeldUp {
  id?: TaskId | undefined;
  key?: string | null | undefined;
}

/** Whether there will be a task of that key, or id, is not known before that transaction ends. */
export const heldUp = (task: HeldUp, again = "try again when it has"): Refusal => ({
  kind: "problem",
  code: "database-unavailable",
  detail: `A transaction that has not ended has ${heldOf(task)} (unacked_create_task). Nothing was changed; ${again}`,
});

/** The refusal of one that is to run again: somebody may have its key, or just itself, as who runs many again has. */
export const heldAgain = (id: TaskId, key: string | null): Refusal =>
  key === null
    ? {
        ...{ kind: "problem", code: "database-unavailable" },
        detail: `Somebody's transaction that has not ended has the task ${id}. Nothing was changed; try again when it has`,
      }
    : heldUp({ id, key });

/** What of it another transaction has: where it has both, nobody knows which. */
export function heldOf({ id, key }: HeldUp): string {
  const ofKey = key === undefined || key === null ? [] : [`the key "${key}"`];
  const ofId = id === undefined ? [] : [`the id ${id}`];
  return [...ofKey, ...ofId].join(" or ");
}

/** A task of a flow does not run again alone: what comes after it is over already. */
export const ofFlow = (flowId: string): Refusal => ({
  kind: "problem",
  code: "task-not-retryable",
  detail: `It is a task of the flow ${flowId}, which is run again as a whole: POST /api/v1/flows/${flowId}/rerun`,
});
