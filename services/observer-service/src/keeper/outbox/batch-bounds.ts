import { MAX_LISTED } from "@unacked/contracts";

/** So many events go in one message at most. */
export const MAX_BATCH_EVENTS = MAX_LISTED;

/**
 * So many bytes, or one event that is longer: a manager takes hundreds of messages ahead, however long they are, and it may have 512 MiB. After five minutes
 * without a database, services whose runs save as much as they may (a MiB a second each) have left gigabytes.
 */
export const MAX_BATCH_BYTES = 262_144;
