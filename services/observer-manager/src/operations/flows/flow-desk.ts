import {
  type CreateFlow,
  type CreateTask,
  type FieldProblem,
  type FlowId,
  type FlowPage,
  type FlowTask,
  type FlowTaskPage,
  type FlowView,
  newFlowId,
  type RerunFlow,
} from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { planFlaws, tasksOf } from "../../domain/flows/flow-plan.ts";
import { areTooLarge } from "../../domain/json-bytes.ts";
import { newAction } from "../access/audit.ts";
import { encodeFlowCursor, encodePlaceCursor } from "../cursor.ts";
import type { Refusal } from "../refusal.ts";
import { type CreationTypes, checkCreations } from "../tasks/creations/creation-check.ts";
import type { Waits } from "../waits.ts";
import type { FlowQuery, FlowStore } from "./flow-store.ts";
import type { FlowTools } from "./flow-tools.ts";

export interface FlowDeskParts {
  store: FlowStore;
  types: CreationTypes;
  waits: Waits<FlowId>;
  /** Every manager, and the services of these pools, know flows. */
  mayUse(pools: readonly string[]): Promise<boolean>;
  /** Some of its tasks may be due. */
  wake(): void;
  /** There is one to be cancelled. */
  followNow(): void;
}

const NOT_KNOWN: Refusal = { kind: "problem", code: "flows-not-known" };
const ID_TAKEN: Refusal = { kind: "problem", code: "id-taken" };

export class FlowDesk implements FlowTools {
  readonly #parts: FlowDeskParts;

  constructor(parts: FlowDeskParts) {
    this.#parts = parts;
  }

  async createFlow(asked: CreateFlow, by: Actor): ReturnType<FlowTools["createFlow"]> {
    const { store, types, mayUse, wake } = this.#parts;
    const list = asked.tasks === undefined ? "stages" : "tasks";
    const tasks = tasksOf(asked);
    const flaws = planFlaws(tasks, list);
    if (flaws.length > 0) return { kind: "problem", code: "invalid-body", errors: flaws };
    const large = tasks.findIndex(({ params }) => areTooLarge(params));
    if (large !== -1)
      return { kind: "problem", code: "body-too-large", detail: `The params of /${list}/${large} are too large` };
    const { id = newFlowId(), name } = asked;
    // A flow that is repeated is what it was: services that have its types may be away just then.
    const there = asked.id === undefined ? undefined : await store.findRepeated({ id, name, tasks });
    if (there !== undefined) return there.kind === "taken" ? ID_TAKEN : there;
    const refusal = refusalOf(await checkCreations(types, tasks.map(toCreation)), list);
    if (refusal !== undefined) return refusal;
    if (!(await mayUse([...new Set(tasks.map(({ pool }) => pool))]))) return NOT_KNOWN;
    const outcome = await store.insert({ id, name, tasks }, newAction("flow.create", by, { tasks: tasks.length }));
    if (outcome.kind === "taken") return ID_TAKEN;
    if (outcome.kind === "created") wake();
    return outcome;
  }

  async listFlows(query: FlowQuery): Promise<FlowPage> {
    const { last, ...page } = await this.#parts.store.list(query);
    return { ...page, nextCursor: last === undefined ? null : encodeFlowCursor(last) };
  }

  findFlow(id: FlowId, waitMs: number, gone: AbortSignal): Promise<FlowView | undefined> {
    const { store, waits } = this.#parts;
    return waits.found(id, waitMs, { find: () => store.find(id), isOver: ({ status }) => status !== "Running" }, gone);
  }

  async listFlowTasks(id: FlowId, asked: Parameters<FlowTools["listFlowTasks"]>[1]): Promise<FlowTaskPage | undefined> {
    const page = await this.#parts.store.listTasks(id, asked);
    if (page === undefined) return undefined;
    const { nextPlace, ...rest } = page;
    return { ...rest, nextCursor: nextPlace === undefined ? null : encodePlaceCursor(nextPlace) };
  }

  async cancelFlow(id: FlowId, by: Actor): ReturnType<FlowTools["cancelFlow"]> {
    const { store, followNow } = this.#parts;
    const outcome = await store.cancel(id, newAction("flow.cancel", by));
    if (outcome.kind !== "marked")
      return { kind: "problem", code: outcome.kind === "not-found" ? "flow-not-found" : "flow-over" };
    followNow();
    return { kind: "accepted", flow: outcome.flow };
  }

  async rerunFlow(id: FlowId, { from }: RerunFlow, by: Actor): ReturnType<FlowTools["rerunFlow"]> {
    const { store, mayUse, wake } = this.#parts;
    if (!(await mayUse(await store.poolsOf(id)))) return NOT_KNOWN;
    const refs = typeof from === "string" ? [from] : from;
    const outcome = await store.rerun(id, refs, newAction("flow.rerun", by, { from: refs?.slice(0, 10) }));
    switch (outcome.kind) {
      case "running":
        wake();
        return { kind: "accepted", flow: outcome.flow };
      case "refused":
        return { kind: "problem", code: "flow-not-rerunnable", detail: outcome.why };
      case "not-over":
        return { kind: "problem", code: "flow-running" };
      case "not-found":
        return { kind: "problem", code: "flow-not-found" };
      default:
        return outcome satisfies never;
    }
  }
}

const toCreation = ({ type, params, pool, priority }: FlowTask): CreateTask => ({
  type,
  params,
  pool,
  priority,
  onConflict: "reject",
});

const MOST_ERRORS = 20;

/** A task that no living service would take is a flaw of the whole. */
function refusalOf(checked: readonly (CreateTask | Refusal)[], list: "tasks" | "stages"): Refusal | undefined {
  const refused = checked.flatMap((one, place) => ("kind" in one ? [{ place, refusal: one }] : []));
  const [first] = refused;
  if (first === undefined) return undefined;
  const { place, refusal } = first;
  if (refusal.code !== "invalid-body") return { ...refusal, detail: `/${list}/${place}: ${refusal.detail ?? ""}` };
  const errors = refused.flatMap((one) => (one.refusal.errors ?? []).map((error) => below(`/${list}/${one.place}`, error)));
  return { ...refusal, errors: errors.slice(0, MOST_ERRORS) };
}

const below = (above: string, error: FieldProblem): FieldProblem =>
  "pointer" in error ? { ...error, pointer: `${above}${error.pointer}` } : error;
