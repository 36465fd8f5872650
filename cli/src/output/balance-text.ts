import type { BalanceView } from "@unacked/contracts";
import { plainText } from "./plain-text.ts";
import { type Column, Table } from "./table.ts";

const typesText = (types: Record<string, number>): string =>
  Object.entries(types)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([type, count]) => `${type} ${count}`)
    .join(", ");

const COLUMNS: Column<BalanceView["services"][number]>[] = [
  { heading: "SERVICE", cell: ({ name }) => name },
  { heading: "WORKERS", cell: ({ workers }) => String(workers), alignsRight: true },
  { heading: "RUNS", cell: ({ running }) => String(running), alignsRight: true },
  { heading: "SHARE", cell: ({ share }) => (share === null ? "keeps its own" : String(share)), alignsRight: true },
  { heading: "MOVES", cell: ({ leaving }) => (leaving === 0 ? "" : `-${leaving}`), alignsRight: true },
  { heading: "TYPES", cell: ({ types }) => typesText(types) },
];

/** How evenly a pool is loaded, and what its rebalance does, for people. */
export function balanceText(view: BalanceView, { dryRun }: { dryRun: boolean }): string {
  const lines = new Table(COLUMNS).lines(view.services, Date.now());
  return `${lines.join("\n")}\n\n${plainText(sentence(view, dryRun))}\n`;
}

function sentence(view: BalanceView, dryRun: boolean): string {
  const { pool, moves, uneven, waits, rebalance } = view;
  const stays = waits === null ? "" : ` (${waits})`;
  if (!dryRun && rebalance !== null && (rebalance.endedAt === null || moves > 0)) return ofRebalance(rebalance, pool, moves);
  if (moves === 0) return `pool ${pool} is ${uneven === null ? "even" : `not even: ${uneven}`}${stays}`;
  return `${moves} ${moves === 1 ? "move makes" : "moves make"} pool ${pool} even${uneven === null ? "" : `: ${uneven}`}${stays}`;
}

function ofRebalance(rebalance: NonNullable<BalanceView["rebalance"]>, pool: string, left: number): string {
  const { moved, planned, endedAt, outcome, waits } = rebalance;
  if (endedAt === null)
    return `pool ${pool} is being rebalanced: ${moved} of ${planned} moved${waits === null ? "" : `; it waits: ${waits}`}`;
  const why = waits === null ? "" : `: ${waits}`;
  return `the rebalance of pool ${pool} is over (${outcome}${why}): ${moved} moved, ${left} are not where they should be`;
}
