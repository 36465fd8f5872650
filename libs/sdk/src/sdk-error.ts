/**
 * What can be wrong with the use of this package. The code is stable, the message says what to do.
 *
 * - `invalid-type`: the `type` of a definition is not 1–64 of `A–Z a–z 0–9 . _ -`
 * - `invalid-definition`: another part of a definition is missing or malformed
 * - `invalid-option`: a function of this package was given an option out of its range
 * - `invalid-params`: params do not pass the type's schema
 * - `emit-after-end`: `emit` was called by a run that had ended
 * - `event-not-json`: the value given to `emit` cannot be written as JSON
 * - `invalid-output`: what a task returned is no JSON, does not pass its schema, would be another as JSON (a Date), or is too long
 * - `no-result`: a handler of batches returned nothing for this task
 * - `missing-input`: a task of a flow was not given an input that its type cannot do without
 * - `invalid-creation`: what `ctx.tasks.create` was given is not right, is too much, or came when the handler had settled
 * - `invalid-checkpoint`: what was to be saved, or what a run is to start with, does not pass the type's schema, or is no JSON
 * - `checkpoint-too-large`: what was to be saved has more than 65,536 bytes as JSON
 * - `save-after-end`: `saveCheckpoint` was called by a run that had ended
 * - `event-not-seen`: the harness waited for an event that did not come
 * - `not-settled`: the harness has told a handler to end, and it has not
 * - `not-offered`: the harness was given a restricted type, and permissions under which there is none
 */
export type SdkErrorCode =
  | "invalid-type"
  | "invalid-definition"
  | "invalid-option"
  | "invalid-params"
  | "emit-after-end"
  | "event-not-json"
  | "invalid-output"
  | "no-result"
  | "missing-input"
  | "invalid-creation"
  | "invalid-checkpoint"
  | "checkpoint-too-large"
  | "save-after-end"
  | "event-not-seen"
  | "not-settled"
  | "not-offered";

/** The one error class that this package throws; tell the cases apart by `code`. */
export class SdkError extends Error {
  /** Always `SdkError`. */
  override readonly name = "SdkError";
  /** Which case it is. */
  readonly code: SdkErrorCode;

  constructor(code: SdkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
