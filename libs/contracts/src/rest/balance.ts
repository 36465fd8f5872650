import { z } from "zod";
import { Timestamp } from "./timestamp.ts";

/** One rebalance of a pool: under way, or over. */
export const RebalanceView = z
  .object({
    id: z.uuid(),
    by: z.string().describe("who began it; `auto`: a manager, with REBALANCE=auto"),
    why: z.string().describe("what was uneven when it began"),
    begunAt: Timestamp,
    planned: z.int().describe("observers that had to move when it was looked at last, and those that have been told to"),
    moved: z.int().describe("observers that have been told to move"),
    waits: z.string().nullable().describe("why its next step waits"),
    endedAt: Timestamp.nullable(),
    outcome: z.enum(["even", "stalled", "cancelled"]).nullable(),
  })
  .meta({ id: "Rebalance" });
export type RebalanceView = z.infer<typeof RebalanceView>;

const BalancedService = z.object({
  id: z.uuid(),
  name: z.string(),
  workers: z.int(),
  running: z.int(),
  share: z
    .int()
    .nullable()
    .describe("what it should run by its part of the pool's workers; null: it takes nothing, and keeps what it has"),
  leaving: z.int().describe("how many are to move from it"),
  types: z.record(z.string(), z.int()).describe("what it runs, by type"),
});

/** How the observers of a pool are spread over its services, and what would be moved. */
export const BalanceView = z
  .object({
    pool: z.string(),
    services: z.array(BalancedService),
    moves: z
      .int()
      .describe(
        "how many moves make it even, or as even as the types that its services know let it be; at least so many where they know many different sets of types",
      ),
    uneven: z.string().nullable().describe("which service is too far from its share; null: none is"),
    mode: z.enum(["auto", "manual"]).describe("REBALANCE of the manager that answers"),
    waits: z.string().nullable().describe("why nothing would be moved now, although it is not even"),
    rebalance: RebalanceView.nullable().describe("the one that is under way, or the last"),
  })
  .meta({ id: "Balance" });
export type BalanceView = z.infer<typeof BalanceView>;

export const RebalanceRequest = z
  .strictObject({ dryRun: z.boolean().default(false).describe("only say what would be moved") })
  .meta({ id: "RebalanceRequest" });
export type RebalanceRequest = z.infer<typeof RebalanceRequest>;
