import { type ObserverChanged, SPEC_FIELDS, type SpecField } from "@unacked/contracts";

/** Whether what runs is stopped for a change of these, where its service and the managers know all that there is. */
const isStoppedFor = (fields: readonly SpecField[], takesUpdates: boolean): boolean =>
  fields.some((field) => field === "pool" || (SPEC_FIELDS[field].by === "new-message" && !takesUpdates));

/** What becomes of a change, just after the answer. @param takesUpdates its type has `onUpdate` */
export function changeText(
  { name, outcome, pending, changed }: Pick<ObserverChanged, "name" | "outcome" | "pending" | "changed">,
  takesUpdates: boolean,
): string {
  if (outcome === "unchanged") return `${name} is so already.`;
  if (pending !== "update") return `${name} was changed.`;
  const fields = changed.map(({ field }) => field);
  return isStoppedFor(fields, takesUpdates)
    ? `${name} is stopped, and starts as it is wanted now.`
    : `${name} is told, as it runs, what is wanted now.`;
}
