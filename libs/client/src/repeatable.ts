import { type CallName, placeOf } from "@unacked/contracts";

/**
 * Calls that a manager answers the same when they are repeated, beside reads, PUTs, and creates with the caller's own id. Any other
 * call would be done twice, or be refused as done already, and the caller would not learn that it was done.
 */
const SAFE: ReadonlySet<CallName> = new Set<CallName>([
  "changeObserver",
  "pauseObserver",
  "resetCheckpoint",
  "changeTask",
  "changeTaskType",
  "completeTask",
  "failTask",
  "extendTask",
  "releaseTask",
  "cancelTimer",
  "pauseSchedule",
  "resumeSchedule",
  "backfillSchedule",
  "previewSchedule",
  "drainService",
  "cordonService",
  "uncordonService",
  "cancelRebalance",
]);

/** By the name of the call: the things that its body creates. */
const CREATED: Partial<Record<CallName, (body: unknown) => unknown[]>> = {
  createObserver: (body) => [body],
  createObservers: (body) => (body as { observers: unknown[] }).observers,
  createTask: (body) => [body],
  createTasks: (body) => (body as { tasks: unknown[] }).tasks,
  createFlow: (body) => [body],
  createTimers: (body) => (body as { timers: unknown[] }).timers,
  beginWork: (body) => [body],
  runSchedule: (body) => [body],
};

/** Whether a call may be repeated when nobody knows whether it was done. */
export function isRepeatable(name: CallName, body: unknown): boolean {
  const { method } = placeOf(name);
  const created = CREATED[name]?.(body);
  if (created !== undefined) return created.every((one) => (one as { id?: unknown }).id !== undefined);
  return method === "GET" || method === "PUT" || SAFE.has(name);
}
