export { type Backoff, type BackoffOptions, backoff } from "./backoff.ts";
export { type BatchContext, type BatchedTask, type BatchOutcome, type BatchResult, batchOutcomes } from "./batch.ts";
export { type CreationOptions, Creations, type TaskCreation, type TaskCreator } from "./creations.ts";
export { errorOf } from "./error-of.ts";
export {
  type HarnessOptions,
  type HarnessRun,
  runObserver,
} from "./harness.ts";
export {
  type GivenInput,
  type InputKind,
  type InputKinds,
  type Inputs,
  type InputsOf,
  type InputTask,
  inputsOf,
  type KeptOf,
  type MissingInput,
} from "./inputs.ts";
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
  isObserverDefinition,
  isolationFlaw,
  type ObserverDefinition,
  type ObserverDraft,
  type Silence,
  type StartMode,
  silenceFlaw,
  type UpdateAnswer,
} from "./observer-definition.ts";
export { isObserverStopped, ObserverStopped, type StopCode, stopCodes } from "./observer-stopped.ts";
export { MAX_EVENT_BYTES, OutputTooLargeError } from "./output-too-large.ts";
export { type ParamsIssue, type ParamsResult, paramsIssuesText, parseParams } from "./params.ts";
export { type JsonSchema, type ParamsJsonSchema, paramsJsonSchema } from "./params-json-schema.ts";
export { everythingPermitted, type Permissions } from "./permissions.ts";
export { isTaskPostponed, type Postponement, Postponing, TaskPostponed } from "./postpone.ts";
export {
  isNotOffered,
  type NotOffered,
  offeredUnder,
  type RestrictedObserver,
  restrictObserver,
} from "./restricted-observer.ts";
export { createRunContext, type RunContext, type RunContextParts, type RunSaves } from "./run-context.ts";
export { type RunOutcome, settleRun } from "./run-outcome.ts";
export { MAX_CHECKPOINT_BYTES, readCheckpoint } from "./saving.ts";
export { SdkError, type SdkErrorCode } from "./sdk-error.ts";
export { silentError } from "./silent-error.ts";
export { type LoggedLine, type Sight, Spy } from "./spy.ts";
export {
  defineTask,
  type Emergency,
  handlerOf,
  isEmergencyAttempt,
  isTaskDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskDraft,
  type TaskInBatches,
  type TaskOneByOne,
  type TaskRetry,
  type TaskTraits,
} from "./task-definition.ts";
export { runTask, type TaskRunOptions } from "./task-harness.ts";
export { outputJson } from "./task-output.ts";
export { taskTimeoutError } from "./task-timeout-error.ts";
export { unknownFieldsOf } from "./unknown-fields.ts";
export { settleUpdate, type UpdateOutcome } from "./update.ts";
export { sleep, untilAborted } from "./waiting.ts";
