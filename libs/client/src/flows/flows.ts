import { type BodyOf, type FlowView, newUuid, type QueryOf } from "@unacked/contracts";
import { type Calls, failCreate } from "../tasks/calls.ts";
import { typeOf } from "../tasks/task-kind.ts";
import type { FlowPlan, FlowStep } from "./flow.ts";
import { FlowHandle } from "./flow-handle.ts";

/** The flows of one manager. Each call fails with a CallError, as all calls of the client do. */
export class Flows {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * All of it, or nothing. A failure has the flow's id in its `ids`, as that of a task. @param plan what `flow` gave @param options without an
   * `id` the client makes one, so that the call may be repeated
   */
  async create<Steps extends readonly FlowStep[]>(
    { name, steps }: FlowPlan<Steps>,
    { id = newUuid(), signal }: { id?: string; signal?: AbortSignal } = {},
  ): Promise<FlowHandle<Steps>> {
    const tasks = steps.map(({ task, after, ...step }) => ({
      ...step,
      type: typeOf(task),
      ...(after !== undefined && { after: [...after] }),
    }));
    const body = { id, ...(name !== undefined && { name }), tasks };
    const call = this.#calls.call("createFlow", { body: body as BodyOf<"createFlow"> }, signal);
    const created = await call.catch(failCreate(this.#calls, "createFlow", [id], signal));
    return new FlowHandle(this.#calls, created.id, created.outcome);
  }

  /** A handle for a flow that was created elsewhere: `handle<typeof nightly.steps>(id)`. */
  handle<Steps extends readonly FlowStep[] = readonly FlowStep[]>(id: string): FlowHandle<Steps> {
    return new FlowHandle(this.#calls, id);
  }

  /** Lists flows, the newest first. */
  async *list(
    filter: Omit<QueryOf<"listFlows">, "limit" | "cursor"> = {},
    options: { limit?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<FlowView> {
    for await (const { items } of this.#calls.pages("listFlows", filter, options)) yield* items;
  }
}
