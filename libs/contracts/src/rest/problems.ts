/**
 * Every problem the REST API answers with (RFC 9457). The code is stable; the remedy says what the reader should do.
 */
export const PROBLEMS = {
  "malformed-json": { status: 400, title: "The body is not JSON", remedy: "Send valid JSON." },
  "invalid-query": { status: 400, title: "A query parameter is wrong", remedy: "See `errors` for each one." },
  "malformed-request": {
    status: 400,
    title: "The request is malformed",
    remedy: "Percent-encode the path correctly and send the whole body.",
  },
  unauthorized: {
    status: 401,
    title: "The caller is not authenticated",
    remedy: "Send a token: Authorization: Bearer TOKEN. The operator of the manager makes one (unacked token create).",
  },
  forbidden: {
    status: 403,
    title: "The caller's role does not allow this",
    remedy: "Ask the operator of the manager for a token of the role in `neededRole`, or a higher one.",
  },
  "cross-origin": {
    status: 403,
    title: "A page of another origin may not change anything",
    remedy: "Send the request from the manager's own page, or without an Origin header.",
  },
  "not-found": { status: 404, title: "No such path", remedy: "See /api/docs for the paths." },
  "observer-not-found": {
    status: 404,
    title: "No such observer",
    remedy: "Check the name or id; a deleted observer is found by id only.",
  },
  "error-not-found": {
    status: 404,
    title: "No such error",
    remedy: "See GET /api/v1/errors; entries are removed when they are deleted, or after the retention.",
  },
  "service-not-found": {
    status: 404,
    title: "No such service",
    remedy: "See GET /api/v1/services?all=true for names and ids.",
  },
  "pool-not-found": {
    status: 404,
    title: "No living service of this pool",
    remedy: "See GET /api/v1/services for the pools that have one.",
  },
  "task-not-found": {
    status: 404,
    title: "No such task",
    remedy: "Check the id; a task that is over is remembered for TASK_RETENTION_DAYS.",
  },
  "task-type-not-found": {
    status: 404,
    title: "No such task type",
    remedy:
      "See GET /api/v1/task-types for the names. A type is known while a service has it and for an hour after, while a task of it waits, or it is limited.",
  },
  "timer-not-found": {
    status: 404,
    title: "No such timer",
    remedy: "Check the id; a timer that is over is remembered for TIMER_RETENTION_DAYS.",
  },
  "work-not-found": {
    status: 404,
    title: "No such work",
    remedy: "Check the id; work that is over is remembered for RETENTION_DAYS.",
  },
  "flow-not-found": {
    status: 404,
    title: "No such flow",
    remedy: "Check the id; a flow that is over is remembered for TASK_RETENTION_DAYS.",
  },
  "schedule-not-found": {
    status: 404,
    title: "No such schedule",
    remedy: "See GET /api/v1/schedules for the ids. A schedule that was deleted is forgotten.",
  },
  "method-not-allowed": { status: 405, title: "This path does not take that method", remedy: "See the Allow header." },
  "name-taken": {
    status: 409,
    title: "The name is taken",
    remedy: "Choose another name, or stop the observer that has it.",
  },
  "id-taken": {
    status: 409,
    title: "The id is taken by something with another body",
    remedy: "Repeat exactly the same body, or choose another id.",
  },
  "key-taken": {
    status: 409,
    title: "Another task of this type has the key",
    remedy: "See `taskId`. Wait for its end, or say what should happen to it: onConflict.",
  },
  "batch-refused": {
    status: 409,
    title: "Another observer of the atomic batch was refused",
    remedy: "Correct or leave out those that have a problem of their own, and send the batch again.",
  },
  "not-activated": {
    status: 409,
    title: "The observer has not started yet",
    remedy: "Wait until it is Processing, or delete it with ?force=true.",
  },
  "already-deleting": {
    status: 409,
    title: "The observer is being stopped",
    remedy: "Wait. If no service answers, delete it with ?force=true.",
  },
  "already-deleted": { status: 409, title: "The observer is deleted", remedy: "There is nothing left to do." },
  "not-restartable": {
    status: 409,
    title: "The observer cannot be restarted now",
    remedy: "Only observers that are Processing, Retrying, Failed or Completed can be restarted.",
  },
  paused: {
    status: 409,
    title: "The observer is paused, or about to be",
    remedy: "Resume it: it then runs again, from its checkpoint if it has saved one.",
  },
  scheduled: {
    status: 409,
    title: "The observer has not started yet: it starts at its time",
    remedy: "Its `startAt` says when. To start it now, delete it and create it again.",
  },
  "not-pausable": {
    status: 409,
    title: "The observer is over and cannot be paused",
    remedy: "It does not run. Restart it, or delete it.",
  },
  "has-run": {
    status: 409,
    title: "A run of the observer is current, or asks whether it may start",
    remedy: "Pause the observer, set or reset its checkpoint, and resume it.",
  },
  "not-paused": {
    status: 409,
    title: "The observer is not paused",
    remedy: "If it should run there is nothing to do. Restart it if it is Failed or Completed.",
  },
  "other-type": {
    status: 409,
    title: "The observer is of another type",
    remedy: "A type cannot be changed: stop the observer and create it again, or choose another name.",
  },
  "not-retryable": {
    status: 409,
    title: "There is nothing to retry",
    remedy: "Only the error of a Failed observer can be retried. Delete the entry when it has been dealt with.",
  },
  "task-over": {
    status: 409,
    title: "The task is over",
    remedy: "It can no longer be changed or cancelled. If it is Failed or Cancelled it can be retried.",
  },
  "task-not-held": {
    status: 409,
    title: "The task is not held by this sendId (any more)",
    remedy:
      "Stop working on it; `detail` says what became of it. Next time extend the lease earlier, or take tasks with a longer leaseMs.",
  },
  "task-cancelling": {
    status: 409,
    title: "Somebody has cancelled the task",
    remedy: "End the work and report it with fail, or with complete if it is done. Its lease can no longer be extended.",
  },
  "task-not-taken": {
    status: 409,
    title: "No worker outside has the task",
    remedy: "See `detail`. A task that a service runs is ended by its cancel.",
  },
  "task-not-retryable": {
    status: 409,
    title: "The task cannot be retried now",
    remedy: "Only tasks that are Failed, Cancelled or Scheduled can be retried; a Scheduled one then waits no longer.",
  },
  "flow-over": {
    status: 409,
    title: "The flow is over",
    remedy: "There is nothing left to cancel. It can be run again.",
  },
  "flow-running": {
    status: 409,
    title: "The flow is not over",
    remedy: "Wait for its end, or cancel it; then run it again.",
  },
  "flow-not-rerunnable": {
    status: 409,
    title: "The flow cannot be run again from there",
    remedy: "See `detail`: give in `from` the first tasks that have no result, or leave `from` out.",
  },
  "already-fired": {
    status: 409,
    title: "The timer has fired, or is being fired",
    remedy:
      "Once it has fired it can no longer be cancelled. While its status is Firing it may not have been delivered yet: it is tried again until `expiresAt`.",
  },
  "schedule-without-task": {
    status: 409,
    title: "The schedule is about observers, and has no task to start",
    remedy:
      "Pause or resume the observers themselves (POST /api/v1/observers/{ref}/pause): that holds until their next change.",
  },
  "schedule-unreadable": {
    status: 409,
    title: "The times of the schedule can no longer be read",
    remedy:
      "The Node.js version of this manager does not know its time zone; that of the manager that took the schedule did. Put the schedule again with a known zone, or update Node.js.",
  },
  "service-ended": {
    status: 409,
    title: "The service has ended",
    remedy: "There is nothing left to do: its observers run elsewhere, or wait for a worker.",
  },
  "service-ambiguous": {
    status: 409,
    title: "Several living services have this name",
    remedy: "Use the id of the service that you mean, and give each service its own SERVICE_NAME.",
  },
  "service-too-old": {
    status: 409,
    title: "The version of the service is too old for this",
    remedy: "Drain it, and start it again with a newer version (docs/upgrade.md).",
  },
  "not-movable": {
    status: 409,
    title: "The observer does not run, or is being changed",
    remedy: "Only a running observer can be moved. See its status: GET /api/v1/observers/{ref}.",
  },
  "nowhere-to-move": {
    status: 409,
    title: "No other service could run it",
    remedy:
      "Another service of its pool must have its type and a free worker: start one, raise WORKER_COUNT, or uncordon one. GET /api/v1/pools/{pool}/balance shows them.",
  },
  "timer-over": {
    status: 410,
    title: "The timer is over, or is being fired",
    remedy: "See GET /api/v1/timers/{timerId} for what became of it. For another timer choose another id.",
  },
  "work-over": {
    status: 409,
    title: "The work is over",
    remedy: "There is nothing left to cancel. See GET /api/v1/work/{workId} for what was done.",
  },
  "spec-changed": {
    status: 412,
    title: "The observer was changed since it was read",
    remedy:
      "See `differs` for what it is now, and what was given. Read it again, and send what is still wanted with its new ETag.",
  },
  "checkpoint-changed": {
    status: 412,
    title: "The checkpoint was changed since it was read",
    remedy: "Read it again, and send what is still wanted with its new ETag.",
  },
  "body-too-large": {
    status: 413,
    title: "The body is too large",
    remedy:
      "A body is at most 256 KiB; that of a batch 32 MiB, with params of at most 256 KiB each. The payload of a timer is at most 64 KiB; a list of ids or names 2 MiB. A body of very many values may have to be sent in parts: see `detail`.",
  },
  "unsupported-media-type": {
    status: 415,
    title: "The body is not application/json",
    remedy: "Send Content-Type: application/json.",
  },
  "wrong-host": {
    status: 421,
    title: "The manager does not answer under this host name",
    remedy: "Use its address or localhost, name the host in ALLOWED_HOSTS, or configure authentication.",
  },
  "invalid-id": {
    status: 422,
    title: "The path has something that cannot be a name or id",
    remedy: "See `detail` for the right form.",
  },
  "invalid-body": { status: 422, title: "The body is wrong", remedy: "See `errors` for each field." },
  "unknown-type": {
    status: 422,
    title: "No living service has this type",
    remedy: "Use one of `knownTypes`, send a pool that has it (`knownPools`), or deploy a service that has the type.",
  },
  "too-many-requests": {
    status: 429,
    title: "Too many requests",
    remedy: "Wait as long as Retry-After says. The limits are settings: RATE_LIMIT_PER_MINUTE and AUTH_FAILURES_PER_MINUTE.",
  },
  "too-many-log-streams": {
    status: 429,
    title: "Too many log streams are open",
    remedy: "Close some of the streams, or ask without `follow`.",
  },
  "internal-error": {
    status: 500,
    title: "Something went wrong in the manager",
    remedy: "Look in the manager's log for the request id.",
  },
  "identity-provider-unavailable": {
    status: 503,
    title: "The keys for checking tokens cannot be fetched",
    remedy: "Try again after Retry-After. The operator should check OIDC_JWKS_URL and the manager's log.",
  },
  "batch-interrupted": {
    status: 503,
    title: "The call was interrupted before this item was handled",
    remedy: "Send these again. What the answer calls accepted is done.",
  },
  "pool-not-served": {
    status: 503,
    title: "No living service works in this pool",
    remedy: 'Send one of `knownPools`, start a service with this POOL, or send whenFull: "queue".',
  },
  "no-free-worker": {
    status: 503,
    title: "No worker is free",
    remedy: 'Try again later, add a service, or send whenFull: "queue".',
  },
  "logs-unavailable": {
    status: 503,
    title: "The log lines are not available now",
    remedy:
      "Try again. If it goes on, look at the service that is named (a frozen process, a blocked event loop), and at /readyz for the broker.",
  },
  "flows-not-known": {
    status: 503,
    title: "A manager or a service does not know flows yet",
    remedy: "Upgrade all managers, and the services of these pools; one that has ended counts for some more seconds.",
  },
  "admission-not-known": {
    status: 503,
    title: "A manager, or a service of the pool, does not know admission yet",
    remedy: "Upgrade all managers and the services that `detail` names; one that has ended counts for some more seconds.",
  },
  "not-ready": { status: 503, title: "The manager is not ready", remedy: "Try again after Retry-After; see /readyz." },
  "database-unavailable": {
    status: 503,
    title: "The database is not available now",
    remedy: "Try again after Retry-After.",
  },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;
