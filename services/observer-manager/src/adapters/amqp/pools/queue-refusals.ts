import { isNoQueue, RefusedError } from "@unacked/broker";

/** Recognises a refusal by the broker's words, as AMQP has one code for several reasons. */
const isRefusal = (error: unknown, words: RegExp): boolean =>
  error instanceof RefusedError && words.test(error.reason.detail);

/** There is no such queue. */
export const isDeleted = (error: unknown): boolean => error instanceof RefusedError && isNoQueue(error.reason);

/** The queue exists with other arguments. */
export const isOtherwise = (error: unknown): boolean => isRefusal(error, /^406 .*inequivalent arg/);

/** It was to be deleted only without consumers, or without messages, but has some. */
export const isInUse = (error: unknown): boolean => isRefusal(error, /^406 .*(in use|not empty|non-empty)/i);
