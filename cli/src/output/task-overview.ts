import type { TaskFiguresNow, TaskTypeFigures } from "@unacked/contracts";
import type { Paint } from "./colours.ts";
import { plainText } from "./plain-text.ts";
import { type Column, Table } from "./table.ts";
import { loadCell, TASK_FIGURE_LISTING } from "./task-listings.ts";

/** Of more types those that are worst off are shown. */
const MAX_TYPES = 10;

/** How many tasks run and wait, and the load of each pool; nothing where there are no task types. */
export function taskSummary({ items, pools }: TaskFiguresNow, paint: Paint): string[] {
  if (items.length === 0) return [];
  const sum = (of: "running" | "waiting"): number => items.reduce((all, item) => all + item[of], 0);
  const isExact = items.every(({ isWaitingExact }) => isWaitingExact);
  const loads = pools.filter(({ loadPercent }) => loadPercent !== null);
  const load = loads.map((pool) => {
    const { text, colour } = loadCell(pool);
    return `${plainText(pool.pool)} ${paint(colour, text)}`;
  });
  return [
    `Tasks       ${sum("running")} running, ${sum("waiting")}${isExact ? "" : "+"} waiting`,
    ...(load.length === 0 ? [] : [`Task load   ${load.join("  ")}`]),
  ];
}

/** A line for each task type, those with the most load first; nothing where there are none. */
export function taskTypeLines({ items }: TaskFiguresNow, { paint, nowMs }: { paint: Paint; nowMs: number }): string[] {
  if (items.length === 0) return [];
  const lines = new Table(COLUMNS, { paint }).lines(worstFirst(items).slice(0, MAX_TYPES), nowMs);
  const more = items.length - MAX_TYPES;
  return more > 0 ? [...lines, `… and ${more} more: unacked get task-figures`] : lines;
}

const worstFirst = (items: TaskTypeFigures[]): TaskTypeFigures[] =>
  [...items].sort(
    (a, b) =>
      (b.loadPercent ?? -1) - (a.loadPercent ?? -1) ||
      b.waiting - a.waiting ||
      b.running - a.running ||
      a.type.localeCompare(b.type),
  );

/** As many of the columns of `get task-figures` as fit beside each other on a screen. */
const SHOWN = new Set(["TYPE", "WAITING", "OLDEST", "RUNNING", "WORKERS", "LOAD", "DONE", "FAILED"]);
const COLUMNS: Column<TaskTypeFigures>[] = TASK_FIGURE_LISTING.columns
  .filter(({ heading }) => SHOWN.has(heading))
  .map((column) => (column.heading === "TYPE" ? { ...column, heading: "TASK TYPE" } : column));
