import type { ChangeTaskType, TaskTypeList, TaskTypeView } from "@unacked/contracts";
import type { Actor } from "../../../domain/access/identity.ts";
import { changedLimits, limitsFlaw, type TaskLimits } from "../../../domain/tasks/task-limits.ts";
import { type Action, newAction } from "../../access/audit.ts";
import type { Refusal } from "../../refusal.ts";
import type { TaskTypeTools } from "../task-tools.ts";

export interface TaskLimitStore {
  /** Lists by name what living services have, and what is limited. */
  list(): Promise<TaskTypeView[]>;
  /**
   * Writes what `decide` makes of the limits as they are; what it refuses stays. No claim that ends later goes by the old ones.
   * @returns undefined where nobody knows the type
   */
  change<Refused>(
    type: string,
    decide: (before: TaskLimits) => { after: TaskLimits } | { refused: Refused },
    action: Action,
  ): Promise<{ view: TaskTypeView } | { refused: Refused } | undefined>;
}

/** Limits by type, as they are seen and changed. */
export class TaskTypeDesk implements TaskTypeTools {
  readonly #parts: { store: TaskLimitStore; wake(): void };

  /** @param parts `wake`: what waited may go now */
  constructor(parts: { store: TaskLimitStore; wake(): void }) {
    this.#parts = parts;
  }

  async listTaskTypes(): Promise<TaskTypeList> {
    const items = await this.#parts.store.list();
    return { items, total: items.length };
  }

  async changeTaskType(type: string, change: ChangeTaskType, by: Actor): ReturnType<TaskTypeTools["changeTaskType"]> {
    const { store, wake } = this.#parts;
    const decide = (before: TaskLimits): { after: TaskLimits } | { refused: Refusal } => {
      const after = changedLimits(before, change);
      const flaw = limitsFlaw(after);
      return flaw ? { refused: { kind: "problem", code: "invalid-body", errors: [flaw] } } : { after };
    };
    const outcome = await store.change(type, decide, newAction("task-type.change", by, { ...change }));
    if (outcome === undefined) return { kind: "problem", code: "task-type-not-found" };
    if ("refused" in outcome) return outcome.refused;
    wake();
    return { kind: "changed", type: outcome.view };
  }
}
