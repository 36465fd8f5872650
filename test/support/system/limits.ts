import type { ChangeTaskType } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { expect } from "vitest";
import { PostgresTaskLimitStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/desk/task-limit-store.ts";
import { TaskTypeDesk } from "../../../services/observer-manager/src/operations/tasks/desk/task-type-desk.ts";
import { SOMEBODY } from "../servers/books.ts";

/** Changes the limits of a type, as a manager does that is asked to. */
export async function changeLimits(db: DataSource, type: string, change: ChangeTaskType): Promise<void> {
  const desk = new TaskTypeDesk({ store: new PostgresTaskLimitStore(db), wake: () => undefined });
  expect(await desk.changeTaskType(type, change, SOMEBODY)).toMatchObject({ kind: "changed" });
}
