// Without zod: browsers are made of this too, and are not to carry it.

/** Where each call of the REST API is, under its operationId. What it takes and answers stands under the same name in CALLS. */
export const CALL_PLACES = {
  getSession: "GET /api/v1/session",
  signIn: "POST /api/v1/session",
  signOut: "DELETE /api/v1/session",
  createObserver: "POST /api/v1/observers",
  listObservers: "GET /api/v1/observers",
  getObserver: "GET /api/v1/observers/{ref}",
  listRuns: "GET /api/v1/observers/{ref}/runs",
  getLogs: "GET /api/v1/observers/{ref}/logs",
  deleteObserver: "DELETE /api/v1/observers/{ref}",
  restartObserver: "POST /api/v1/observers/{ref}/restart",
  pauseObserver: "POST /api/v1/observers/{ref}/pause",
  resumeObserver: "POST /api/v1/observers/{ref}/resume",
  createObservers: "POST /api/v1/observers/batch",
  stopObservers: "POST /api/v1/observers/stop",
  restartObservers: "POST /api/v1/observers/restart",
  pauseObservers: "POST /api/v1/observers/pause",
  resumeObservers: "POST /api/v1/observers/resume",
  createTask: "POST /api/v1/tasks",
  listTasks: "GET /api/v1/tasks",
  getTask: "GET /api/v1/tasks/{taskId}",
  cancelTask: "DELETE /api/v1/tasks/{taskId}",
  changeTask: "PATCH /api/v1/tasks/{taskId}",
  retryTask: "POST /api/v1/tasks/{taskId}/retry",
  retryTaskWith: "POST /api/v1/tasks/{taskId}/retry-with",
  createTasks: "POST /api/v1/tasks/batch",
  cancelTasks: "POST /api/v1/tasks/cancel",
  retryTasks: "POST /api/v1/tasks/retry",
  takeTasks: "POST /api/v1/tasks/take",
  completeTask: "POST /api/v1/tasks/{taskId}/complete",
  failTask: "POST /api/v1/tasks/{taskId}/fail",
  extendTask: "POST /api/v1/tasks/{taskId}/extend",
  listTaskTypes: "GET /api/v1/task-types",
  changeTaskType: "PATCH /api/v1/task-types/{taskType}",
  listTaskFigures: "GET /api/v1/task-figures",
  getTaskFigures: "GET /api/v1/task-types/{taskType}/figures",
  groupTaskFailures: "GET /api/v1/task-failures",
  retryTaskFailures: "POST /api/v1/task-failures/retry",
  createFlow: "POST /api/v1/flows",
  listFlows: "GET /api/v1/flows",
  getFlow: "GET /api/v1/flows/{flowId}",
  listFlowTasks: "GET /api/v1/flows/{flowId}/tasks",
  cancelFlow: "POST /api/v1/flows/{flowId}/cancel",
  rerunFlow: "POST /api/v1/flows/{flowId}/rerun",
  putTimer: "PUT /api/v1/timers/{timerId}",
  createTimers: "POST /api/v1/timers/batch",
  listTimers: "GET /api/v1/timers",
  getTimer: "GET /api/v1/timers/{timerId}",
  cancelTimer: "DELETE /api/v1/timers/{timerId}",
  putSchedule: "PUT /api/v1/schedules/{scheduleId}",
  listSchedules: "GET /api/v1/schedules",
  getSchedule: "GET /api/v1/schedules/{scheduleId}",
  deleteSchedule: "DELETE /api/v1/schedules/{scheduleId}",
  pauseSchedule: "POST /api/v1/schedules/{scheduleId}/pause",
  resumeSchedule: "POST /api/v1/schedules/{scheduleId}/resume",
  runSchedule: "POST /api/v1/schedules/{scheduleId}/run",
  backfillSchedule: "POST /api/v1/schedules/{scheduleId}/backfill",
  listOccurrences: "GET /api/v1/schedules/{scheduleId}/occurrences",
  nextTimes: "GET /api/v1/schedules/{scheduleId}/next",
  previewSchedule: "POST /api/v1/schedules/preview",
  listServices: "GET /api/v1/services",
  drainService: "POST /api/v1/services/{service}/drain",
  getStats: "GET /api/v1/stats",
  listTypes: "GET /api/v1/types",
  listErrors: "GET /api/v1/errors",
  groupErrors: "GET /api/v1/errors/groups",
  getError: "GET /api/v1/errors/{errorId}",
  retryError: "POST /api/v1/errors/{errorId}/retry",
  deleteError: "DELETE /api/v1/errors/{errorId}",
  getErrorStats: "GET /api/v1/stats/errors",
  listAudit: "GET /api/v1/audit",
  followChanges: "GET /api/v1/events",
  isAlive: "GET /healthz",
  isReady: "GET /readyz",
  getMetrics: "GET /metrics",
  getDocument: "GET /api/openapi.json",
} as const;

export type CallName = keyof typeof CALL_PLACES;
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The names in the braces of a call's path. */
export type PathParameter<Name extends CallName> = InBraces<(typeof CALL_PLACES)[Name]>;
type InBraces<Text extends string> = Text extends `${string}{${infer Inside}}${infer Rest}`
  ? Inside | InBraces<Rest>
  : never;

export function placeOf(name: CallName): { method: Method; path: string } {
  const [method, path] = CALL_PLACES[name].split(" ") as [Method, string];
  return { method, path };
}
