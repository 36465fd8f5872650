import { z } from "zod";
import { PoolName } from "../ids.ts";

const markerId = z.uuid().toLowerCase();

/**
 * Manager → work queue, behind what is in it (docs/decisions/0008-proof-of-absence.md). Transient, with an expiration. Sent
 * only if every service of the pool has the feature `queue-marker`; the one that gets it answers MarkerSeen, and then acks.
 */
export const QueueMarker = z.object({ kind: z.literal("QueueMarker"), markerId, pool: PoolName });
export type QueueMarker = z.infer<typeof QueueMarker>;

/** Manager → state queue, behind what services have said. */
export const StateMarker = z.object({ kind: z.literal("StateMarker"), markerId, pool: PoolName });
export type StateMarker = z.infer<typeof StateMarker>;

/** The marker, and the round of questions after it, for which an inventory is asked for and given. */
export const InventoryProof = z.object({ markerId, round: z.int().min(1).max(1_000_000) });
export type InventoryProof = z.infer<typeof InventoryProof>;
