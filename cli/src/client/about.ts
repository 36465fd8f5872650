import type { CallName, PathParameter } from "@unacked/contracts";

/** What people call each parameter of a path. */
const NOUNS: Readonly<Record<PathParameter<CallName>, string>> = {
  ref: "observer",
  taskId: "task",
  taskType: "task type",
  flowId: "flow",
  timerId: "timer",
  scheduleId: "schedule",
  workId: "work",
  errorId: "error",
  service: "service",
  pool: "pool",
};

/** What a call is about, for the text of its refusals. Undefined if its path names nothing. */
export function aboutOf(path: Readonly<Partial<typeof NOUNS>> = {}): string | undefined {
  const [named] = Object.entries(path) as [keyof typeof NOUNS, string][];
  return named && `${NOUNS[named[0]]} ${named[1]}`;
}
