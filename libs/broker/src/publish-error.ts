/**
 * `returned`: no queue took it (its confirm alone would say ok) · `nacked`: the broker could not take it ·
 * `lost`: the connection went before the confirm, outcome unknown · `unavailable`: not connected, nothing was sent ·
 * `overflow`: too many are waiting, nothing was sent · `too-late`: no confirm in time, outcome unknown; the session was ended ·
 * `unwanted`: its signal aborted before it was sent, nothing was sent ·
 * `invalid`: it cannot be put into a message (not JSON, a name over 255 bytes), nothing was sent; again would not help.
 */
export type PublishErrorCode =
  | "returned"
  | "nacked"
  | "lost"
  | "unavailable"
  | "overflow"
  | "too-late"
  | "unwanted"
  | "invalid";

/** A publish that is not known to have arrived. */
export class PublishError extends Error {
  override readonly name = "PublishError";
  readonly code: PublishErrorCode;
  readonly messageId: string;

  constructor(code: PublishErrorCode, messageId: string, detail: string, options?: ErrorOptions) {
    super(`${detail} (message ${messageId})`, options);
    this.code = code;
    this.messageId = messageId;
  }
}
