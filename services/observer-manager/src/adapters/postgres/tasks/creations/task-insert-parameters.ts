import type { NewTask } from "../../../../operations/tasks/creations/new-task.ts";
import type { AtOnce } from "../../../../operations/tasks/dispatch/at-once.ts";
import { mostlyNull } from "../../statements/mostly-null.ts";
import { mostlyOne } from "../../statements/mostly-one.ts";
import { INSERT, INSERT_AT_ONCE, INSERT_CALLS_AT_ONCE } from "./task-insert-statements.ts";

/** The statements that insert tasks, by how they are sent. */
export function insertsBy(sending: AtOnce | undefined): typeof INSERT {
  if (sending === undefined) return INSERT;
  return sending.batches.size === 0 ? INSERT_AT_ONCE : INSERT_CALLS_AT_ONCE;
}

/** Their parameters. */
export const parametersOfInsert = (tasks: readonly NewTask[], sending: AtOnce | undefined): unknown[] => [
  tasks.map((t) => t.id),
  mostlyOne(tasks.map((t) => t.type)),
  tasks.map((t) => JSON.stringify(t.params)),
  mostlyOne(tasks.map((t) => t.pool)),
  mostlyOne(tasks.map((t) => t.priority)),
  mostlyNull(tasks.map((t) => t.startAt ?? null)),
  mostlyNull(tasks.map((t) => t.maxAttempts ?? null)),
  mostlyNull(tasks.map((t) => t.key ?? null)),
  mostlyNull(tasks.map((t) => t.parentId ?? null)),
  ...(sending === undefined ? [] : parametersOf(sending)),
];

const parametersOf = ({ pool, window, types, batches }: AtOnce): unknown[] => [
  pool,
  window,
  types,
  ...(batches.size === 0 ? [] : [[...batches.keys()], [...batches.values()]]),
];
