export { type Backoff, type BackoffOptions, backoff } from "./backoff.ts";
export {
  type HarnessOptions,
  type HarnessRun,
  type LoggedLine,
  runObserver,
} from "./harness.ts";
export type {
  LogFields,
  LogLevel,
  ObserverContext,
  ObserverIdentity,
  ObserverLog,
} from "./observer-context.ts";
export {
  defineObserver,
  isObserverDefinition,
  type ObserverDefinition,
  type ObserverDraft,
} from "./observer-definition.ts";
export { isObserverStopped, ObserverStopped, type StopCode, stopCodes } from "./observer-stopped.ts";
export { type ParamsIssue, type ParamsResult, paramsIssuesText, parseParams } from "./params.ts";
export { type JsonSchema, type ParamsJsonSchema, paramsJsonSchema } from "./params-json-schema.ts";
export { everythingPermitted, type Permissions } from "./permissions.ts";
export {
  isNotOffered,
  type NotOffered,
  offeredUnder,
  type RestrictedObserver,
  restrictObserver,
} from "./restricted-observer.ts";
export { createRunContext, type RunContext, type RunContextParts } from "./run-context.ts";
export { type RunOutcome, settleRun } from "./run-outcome.ts";
export { SdkError, type SdkErrorCode } from "./sdk-error.ts";
export { sleep, untilAborted } from "./waiting.ts";
