import type { FlowView } from "@unacked/contracts";

/** How a flow stands, in a line. */
export function flowLine({ id, name, status, cancelling, reason, run, tasks }: FlowView): string {
  const over = tasks.completed + tasks.failed + tasks.cancelled;
  const named = name === null ? "" : ` "${name}"`;
  const how = cancelling ? "Cancelling" : status;
  const why = reason === null ? "" : `: ${reason}`;
  const again = run === 1 ? "" : `, run ${run}`;
  return `flow ${id}${named} is ${how}${why} (${over} of ${tasks.total} tasks over${again})`;
}
