import type { CallName, PathParameter } from "@unacked/contracts";

/** What stands in each place of a path, as people call it. */
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

/** What a call is about, for its refusals: what its path names. Undefined where that names nothing. */
export function aboutOf(path: Readonly<Partial<typeof NOUNS>> = {}): string | undefined {
  const [named] = Object.entries(path) as [keyof typeof NOUNS, string][];
  return named && `${NOUNS[named[0]]} ${named[1]}`;
}
