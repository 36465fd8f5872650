/**
 * In which order docs/sdk.md tells of what `@unacked/sdk` exports. Each export stands in one chapter; the page cannot be made else.
 *
 * @type {readonly { title: string, about: string, names: readonly string[] }[]}
 */
export const CHAPTERS = [
  {
    title: "Observers",
    about: "Jobs that never end. The guide: [write an observer](write-an-observer.md).",
    names: [
      ...["defineObserver", "ObserverDraft", "ObserverContext", "AdmittedContext", "CheckpointContext"],
      ...["ObserverIdentity", "ObserverLog", "LogLevel", "LogFields", "StartMode", "Silence", "Isolation", "UpdateAnswer"],
      ...["MAX_CHECKPOINT_BYTES", "MAX_EVENT_BYTES", "ObserverDefinition", "ContextOf"],
    ],
  },
  {
    title: "Tasks",
    about: "Jobs that end, and have a result. The guide: [tasks](tasks.md).",
    names: [
      ...["defineTask", "TaskDraft", "TaskTraits", "TaskOneByOne", "TaskInBatches", "TaskContext", "TaskRetry", "Emergency"],
      ...["TaskCreator", "CreationOptions", "TaskCreation", "BatchedTask", "BatchContext", "BatchResult"],
      ...["NonRetryableError", "isNonRetryable", "TaskPostponed", "isTaskPostponed", "Postponement"],
      ...["TaskDefinition", "KeptOf"],
    ],
  },
  {
    title: "Inputs of a flow",
    about: "What a task is given by those that it comes after. The guide: [flows](flows.md).",
    names: ["InputKinds", "InputKind", "InputTask", "InputsOf", "MissingInput"],
  },
  {
    title: "Stops",
    about: "Why `ctx.signal` aborts.",
    names: ["ObserverStopped", "StopCode", "stopCodes", "isObserverStopped"],
  },
  {
    title: "Waiting",
    about: "Until the next look, until the end, or longer after each failure.",
    names: ["sleep", "untilAborted", "backoff", "BackoffOptions", "Backoff"],
  },
  {
    title: "Types that an operator restricts",
    about: "For a type whose params choose what it reaches, as `process` and `http-poll` do.",
    names: ["restrictObserver", "RestrictedObserver", "Permissions", "everythingPermitted", "NotOffered"],
  },
  {
    title: "Tests",
    about: "Runs handlers in memory, with any test runner. The guide: [test an observer, test a task](test-an-observer.md).",
    names: [
      ...["runObserver", "HarnessOptions", "HarnessRun", "RunOutcome", "UpdateOutcome"],
      ...["runTask", "TaskRunOptions", "Spy", "Sight", "LoggedLine"],
    ],
  },
  {
    title: "Errors",
    about: "What this package throws when it is used wrongly.",
    names: ["SdkError", "SdkErrorCode", "OutputTooLargeError"],
  },
];
