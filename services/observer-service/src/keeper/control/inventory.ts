import { randomUUID } from "node:crypto";
import type { Inventory, InventoryRun } from "@unacked/contracts";
import { attemptOf, isAsking, type LiveRun, quietForMs, standingOf } from "../runs/live-run.ts";

const RUNS_PER_PART = 2_000;

/**
 * One snapshot in parts; an empty service has one empty part. Runs that wait or are ending are included, as their messages are
 * here.
 */
export function takeInventory(
  runs: readonly LiveRun[],
  atMs: number,
  { draining, proof, givenBack = [] }: Pick<Inventory, "draining" | "proof" | "givenBack">,
): Inventory[] {
  const parts = Math.max(1, Math.ceil(runs.length / RUNS_PER_PART));
  const inventoryId = randomUUID();
  return Array.from({ length: parts }, (_, index) => ({
    kind: "Inventory" as const,
    at: atMs,
    inventoryId,
    part: index + 1,
    parts,
    draining,
    ...(proof && { proof }),
    ...(proof && index === parts - 1 && givenBack.length > 0 && { givenBack }),
    runs: runs.slice(index * RUNS_PER_PART, (index + 1) * RUNS_PER_PART).map(entryOf),
  }));
}

function entryOf(run: LiveRun): InventoryRun {
  const { observerId, messageId, revision, specVersion } = run.start;
  const { deliveryCount } = run.delivery;
  const about = { observerId, messageId, revision, runId: run.runId, attempt: attemptOf(run), deliveryCount };
  const standing = { ...standingOf(run), ...(isAsking(run) && { requested: true }) };
  return { ...about, quietForMs: quietForMs(run), specVersion, ...standing };
}
