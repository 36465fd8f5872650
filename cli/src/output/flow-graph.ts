import type { FlowTaskView } from "@unacked/contracts";
import { stateColour } from "./colours.ts";
import { errorLine } from "./errors.ts";
import type { Listing } from "./listing.ts";
import { shortened } from "./plain-text.ts";

const MAX_AFTER = 48;
const MAX_WHY = 60;

/** The longest chain of tasks before each one. Does not recurse, as a flow may be ten thousand deep. */
export function depthsOf(tasks: readonly Pick<FlowTaskView, "ref" | "after">[]): Map<string, number> {
  const left = new Map(tasks.map(({ ref, after }) => [ref, after.length]));
  const followers = new Map<string, string[]>(tasks.map(({ ref }) => [ref, []]));
  for (const { ref, after } of tasks) for (const before of after) followers.get(before)?.push(ref);
  const depths = new Map<string, number>();
  let row = tasks.filter(({ after }) => after.length === 0).map(({ ref }) => ref);
  for (let depth = 0; row.length > 0; depth += 1) {
    const next: string[] = [];
    for (const ref of row) {
      depths.set(ref, depth);
      for (const follower of followers.get(ref) ?? []) {
        const count = (left.get(follower) ?? 0) - 1;
        left.set(follower, count);
        if (count === 0) next.push(follower);
      }
    }
    row = next;
  }
  return depths;
}

/** Draws a flow: what comes first stands on the left, and each task names those that it comes after. */
export function flowGraph(tasks: readonly FlowTaskView[]): { listing: Listing<FlowTaskView>; rows: FlowTaskView[] } {
  const depths = depthsOf(tasks);
  const depthOf = ({ ref }: FlowTaskView): number => depths.get(ref) ?? 0;
  return {
    rows: tasks.toSorted((a, b) => depthOf(a) - depthOf(b)),
    listing: {
      nameOf: ({ taskId }) => taskId,
      columns: [
        { heading: "TASK", cell: (task) => `${indent(depthOf(task))}${task.ref}` },
        { heading: "STATUS", cell: ({ status }) => ({ text: status, colour: stateColour(status) }) },
        { heading: "AFTER", cell: ({ after }) => shortened(after.join(", "), MAX_AFTER) },
        { heading: "WHY", cell: (task) => shortened(whyOf(task), MAX_WHY) },
        { heading: "TYPE", cell: ({ type }) => type, isWide: true },
        { heading: "RUN", cell: ({ run }) => String(run), isWide: true, alignsRight: true },
        { heading: "ON FAILURE", cell: ({ onFailure }) => onFailure, isWide: true },
        { heading: "ID", cell: ({ taskId }) => taskId, isWide: true },
      ],
    },
  };
}

/** More indentation than that says nothing more. */
const indent = (depth: number): string => (depth === 0 ? "" : `${"  ".repeat(Math.min(depth, 20) - 1)}└ `);

function whyOf({ reason, lastError, waitsFor, waitReason, after }: FlowTaskView): string {
  if (reason !== null) return reason;
  if (lastError !== null) return errorLine(lastError);
  if (waitsFor > 0) return `waits for ${waitsFor} of ${after.length}`;
  return waitReason === null ? "" : `waits for: ${waitReason}`;
}
