export { type Backoff, type BackoffOptions, backoff } from "./backoff.ts";
export type { BatchContext, BatchedTask, BatchResult } from "./batch.ts";
export type { CreationOptions, TaskCreation, TaskCreator } from "./creations.ts";
export { type HarnessOptions, type HarnessRun, runObserver } from "./harness.ts";
export type { InputKind, InputKinds, InputsOf, InputTask, KeptOf, MissingInput } from "./inputs.ts";
export { isNonRetryable, NonRetryableError } from "./non-retryable-error.ts";
export type {
  AdmittedContext,
  CheckpointContext,
  LogFields,
  LogLevel,
  ObserverContext,
  ObserverIdentity,
  ObserverLog,
} from "./observer-context.ts";
export {
  type ContextOf,
  defineObserver,
  type Isolation,
  type ObserverDefinition,
  type ObserverDraft,
  type Silence,
  type StartMode,
  type UpdateAnswer,
} from "./observer-definition.ts";
export { isObserverStopped, ObserverStopped, type StopCode, stopCodes } from "./observer-stopped.ts";
export { MAX_EVENT_BYTES, OutputTooLargeError } from "./output-too-large.ts";
export { everythingPermitted, type Permissions } from "./permissions.ts";
export { isTaskPostponed, type Postponement, TaskPostponed } from "./postpone.ts";
export { type NotOffered, type RestrictedObserver, restrictObserver } from "./restricted-observer.ts";
export type { RunOutcome } from "./run-outcome.ts";
export { MAX_CHECKPOINT_BYTES } from "./saving.ts";
export { SdkError, type SdkErrorCode } from "./sdk-error.ts";
export { type LoggedLine, type Sight, Spy } from "./spy.ts";
export {
  defineTask,
  type Emergency,
  type TaskContext,
  type TaskDefinition,
  type TaskDraft,
  type TaskInBatches,
  type TaskOneByOne,
  type TaskRetry,
  type TaskTraits,
} from "./task-definition.ts";
export { runTask, type TaskRunOptions } from "./task-harness.ts";
export type { UpdateOutcome } from "./update.ts";
export { sleep, untilAborted } from "./waiting.ts";
