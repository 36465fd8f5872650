import {
  LIVING_STATUSES,
  readableBytes,
  type ServiceView,
  type Stats,
  type TaskFiguresNow,
  type Warning,
} from "@unacked/contracts";
import { type Colour, type Paint, stateColour } from "./colours.ts";
import { ageOf, shortDuration } from "./durations.ts";
import { plainText } from "./plain-text.ts";
import { serviceState } from "./service-listing.ts";
import { type Column, Table } from "./table.ts";
import { taskSummary, taskTypeLines } from "./task-overview.ts";

interface Look {
  paint: Paint;
  nowMs: number;
}

interface Overview {
  stats: Stats;
  services: ServiceView[];
  figures: TaskFiguresNow;
}

/** One picture of everything: what is wrong first, then counts, then the services, then the task types. */
export function overviewText({ stats, services, figures }: Overview, look: Look): string {
  const { observers, workers, oldestWaiting, stateQueueLag } = stats;
  const lines = [
    ...stats.warnings.flatMap((warning) => warningLines(warning, look.paint)),
    `Observers   ${observers.total - observers.byStatus.Deleted}   ${statusCounts(stats, look.paint)}`,
    `Workers     ${usageBar(workers.total - workers.free, workers.total, look.paint)}   ${workers.free} free of ${workers.total}`,
    `Failover    ${failoverText(stats, look.paint)}`,
    `Books       ${stateQueueLag === null ? "the broker cannot be asked" : `${stateQueueLag} batches behind`}`,
  ];
  if (oldestWaiting !== null) {
    lines.push(
      `Waiting     ${plainText(oldestWaiting.name)} is ${oldestWaiting.status} for ${shortDuration(oldestWaiting.waitingMs)}`,
    );
  }
  lines.push(...taskSummary(figures, look.paint));
  const table =
    services.length === 0
      ? ["No service is alive: nothing can run."]
      : new Table(SERVICE_COLUMNS, { paint: look.paint }).lines(fullestFirst(services), look.nowMs);
  const types = taskTypeLines(figures, look);
  return [...lines, "", ...table, ...(types.length === 0 ? [] : ["", ...types])].map((line) => `${line}\n`).join("");
}

function warningLines({ code, subject, message, remedy }: Warning, paint: Paint): string[] {
  return [paint("red", `! ${code} (${plainText(subject)}): ${plainText(message)}`), `  ${plainText(remedy)}`, ""];
}

function statusCounts({ observers }: Stats, paint: Paint): string {
  const present = LIVING_STATUSES.filter((status) => observers.byStatus[status] > 0);
  return present.map((status) => paint(stateColour(status), `${status} ${observers.byStatus[status]}`)).join("  ");
}

function failoverText({ survivesLargestService, workers }: Stats, paint: Paint): string {
  if (workers.total === 0) return paint("red", "there are no workers");
  return survivesLargestService
    ? "the others could take over the largest service's observers"
    : paint("yellow", "the others could not take over all of the largest service's observers");
}

const BAR_WIDTH = 20;

/** Draws `[########------------]`. More than the total is shown as full. */
export function usageBar(used: number, total: number, paint: Paint): string {
  const share = total === 0 ? 0 : Math.min(1, used / total);
  const filled = used > 0 ? Math.max(1, Math.floor(share * BAR_WIDTH)) : 0;
  const colour: Colour = share >= 1 ? "red" : share >= 0.8 ? "yellow" : "green";
  return `[${paint(colour, "#".repeat(filled))}${"-".repeat(BAR_WIDTH - filled)}]`;
}

const fullestFirst = (services: ServiceView[]): ServiceView[] =>
  [...services].sort((a, b) => b.running / b.workerCount - a.running / a.workerCount || a.name.localeCompare(b.name));

const SERVICE_COLUMNS: Column<ServiceView>[] = [
  { heading: "SERVICE", cell: ({ name }) => name },
  { heading: "STATE", cell: serviceState },
  { heading: "RUNNING", cell: ({ running, workerCount }) => `${running}/${workerCount}`, alignsRight: true },
  { heading: "POOL", cell: ({ pool }) => pool },
  { heading: "MEMORY", cell: ({ memoryBytes }) => readableBytes(memoryBytes), alignsRight: true },
  { heading: "LAG", cell: ({ eventLoopLagMs }) => lagCell(eventLoopLagMs), alignsRight: true },
  { heading: "SEEN", cell: ({ lastSeenAt }, nowMs) => ageOf(lastSeenAt, nowMs) },
];

/** An event loop this late delays every observer of the service. */
const MUCH_LAG_MS = 200;

const lagCell = (lagMs: number) => ({
  text: `${Math.round(lagMs)}ms`,
  colour: lagMs >= MUCH_LAG_MS ? ("yellow" as const) : undefined,
});
