/**
 * `@unacked/sdk/host`: what loads and runs the definitions of others. Authors need none of it.
 *
 * @module
 */

export { type BatchOutcome, batchOutcomes } from "./batch.ts";
export { Creations } from "./creations.ts";
export { errorOf } from "./error-of.ts";
export { type GivenInput, type Inputs, inputsOf } from "./inputs.ts";
export { isObserverDefinition, isolationFlaw, silenceFlaw } from "./observer-definition.ts";
export { MAX_UNCONFIRMED, OutputOverflowError } from "./output-overflow.ts";
export { type ParamsIssue, type ParamsResult, paramsIssuesText, parseParams } from "./params.ts";
export { type JsonSchema, type ParamsJsonSchema, paramsJsonSchema } from "./params-json-schema.ts";
export { Postponing } from "./postpone.ts";
export { isNotOffered, offeredUnder } from "./restricted-observer.ts";
export { createRunContext, type RunContext, type RunContextParts, type RunSaves } from "./run-context.ts";
export { settleRun } from "./run-outcome.ts";
export { readCheckpoint } from "./saving.ts";
export { silentError } from "./silent-error.ts";
export { handlerOf, isEmergencyAttempt, isTaskDefinition } from "./task-definition.ts";
export { outputJson } from "./task-output.ts";
export { taskTimeoutError } from "./task-timeout-error.ts";
export { unknownFieldsOf } from "./unknown-fields.ts";
export { settleUpdate } from "./update.ts";
