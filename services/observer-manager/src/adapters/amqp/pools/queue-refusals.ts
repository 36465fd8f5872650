import { isNoQueue, RefusedError } from "@unacked/broker";

/** What the broker says of a queue that it will not have used so, told by its own words: AMQP has one code for several reasons. */
const isRefusal = (error: unknown, words: RegExp): boolean =>
  error instanceof RefusedError && words.test(error.reason.detail);

/** There is no such queue. */
export const isDeleted = (error: unknown): boolean => error instanceof RefusedError && isNoQueue(error.reason);

/** It is there, with other arguments. */
export const isOtherwise = (error: unknown): boolean => isRefusal(error, /^406 .*inequivalent arg/);

/** It was to be deleted only without consumers, or without messages, and has some. */
export const isInUse = (error: unknown): boolean => isRefusal(error, /^406 .*(in use|not empty|non-empty)/i);
