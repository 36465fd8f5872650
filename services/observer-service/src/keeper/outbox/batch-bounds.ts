import { MAX_LISTED } from "@unacked/contracts";

/** The most events in one message. */
export const MAX_BATCH_EVENTS = MAX_LISTED;

/**
 * The most bytes in one message, unless a single event is longer. A manager takes hundreds of messages ahead, whatever their length, and
 * may have 512 MiB. After five minutes without a database, services whose runs save as much as they may (a MiB a second each) have left
 * gigabytes.
 */
export const MAX_BATCH_BYTES = 262_144;
