import {
  type AuditedKind,
  awaitedWorker,
  type ObserverView,
  type RetryPolicy,
  type RunView,
  readableBytes,
  type ServiceView,
  type TaskPage,
  type TaskView,
} from "@unacked/contracts";
import { type Paint, stateColour } from "./colours.ts";
import { jsonText, yamlText } from "./document-text.ts";
import { ageOf, exactDuration } from "./durations.ts";
import { errorLine, stackLines } from "./errors.ts";
import { pairs } from "./listing.ts";
import { OBSERVER_LISTING, observerState, RUN_LISTING } from "./observer-listings.ts";
import { plainText } from "./plain-text.ts";
import { serviceState } from "./service-listing.ts";
import { brokenFileText, slotText } from "./slots.ts";
import { type Cell, Table } from "./table.ts";
import { TASK_LISTING } from "./task-listings.ts";

interface Look {
  paint: Paint;
  nowMs: number;
}

const MAX_RUNS = 10;

/** `behind` stands behind a painted cell, and is not painted. */
type Field = [label: string, value: string | Cell, behind?: string];

interface OfObserver {
  observer: ObserverView;
  runs: RunView[];
  /** Only living services. */
  services: ServiceView[];
}

/** Describes one observer for people. */
export function describeObserver({ observer, runs, services }: OfObserver, look: Look): string {
  const { lastError, nextAttemptAt, startAt, waitsFor, fencingToken, rejectedUpdate } = observer;
  const fields: Field[] = [
    ["Name", observer.name],
    ["Id", observer.id],
    ["Type", observer.type],
    ["Status", observerState(observer)],
    ["Service", observer.service === null ? "-" : `${observer.service.name} (${observer.service.id})`],
    ["Pool", observer.pool],
    ["Labels", pairs(observer.labels) || "-"],
    ["Retry", retryText(observer.retry)],
    ["Restarts", `${observer.restartsLately ?? "?"} in the last 10 minutes`],
    ["Silence", silenceText(observer.silence)],
    ["Attempts", String(observer.attempts)],
    ["Created", moment(observer.createdAt, look.nowMs)],
    ["Changed", moment(observer.modifiedAt, look.nowMs)],
    ["Version", versionLine(observer)],
    ["Revision", String(observer.revision)],
  ];
  fields.push(whoDidWhat(observer.id));
  if (observer.silentSince) fields.push(["Silent since", red(moment(observer.silentSince, look.nowMs))]);
  if (rejectedUpdate) fields.push(["Rejected", red(rejectionText(rejectedUpdate, look.nowMs))]);
  if (startAt !== null) fields.push(["Starts at", startAt]);
  const worker = awaitedWorker(observer, services);
  if (worker !== undefined) fields.push(["Waits for", worker]);
  if (waitsFor !== null) fields.push(["Waits for", "the manager's admission, for which its service has asked"]);
  if (fencingToken !== null) fields.push(["Fencing token", String(fencingToken)]);
  if (nextAttemptAt !== null) fields.push(["Next attempt", nextAttemptAt]);
  if (lastError !== null) {
    const at = lastError.at === null ? "" : ` (${moment(lastError.at, look.nowMs)})`;
    fields.push(["Last error", red(errorLine(lastError)), at]);
  }
  const stack = stackLines(lastError?.stack).map((line) => `${line}\n`);
  return `${fieldLines(fields, look.paint)}${stack.join("")}${paramLines(observer.params)}${runLines(observer, runs, look)}`;
}

function versionLine({ specVersion, observedSpecVersion: observed }: ObserverView): string {
  return observed === null || observed === specVersion ? String(specVersion) : `${specVersion}, but its run has ${observed}`;
}

const rejectionText = (
  { specVersion, reason, at, keeps }: NonNullable<ObserverView["rejectedUpdate"]>,
  nowMs: number,
): string =>
  `version ${specVersion}, at ${moment(at, nowMs)}: ${reason}; it keeps running with version ${keeps.specVersion} until its params are changed again, or it is restarted`;

/** Describes one task for people. */
export function describeTask(task: TaskView, look: Look): string {
  const { lastError, service, startedAt, endedAt, output } = task;
  const fields: Field[] = [
    ["Id", task.id],
    ["Type", task.type],
    [
      "Status",
      { text: task.status, colour: stateColour(task.status) },
      (task.cancelling ? ", being cancelled" : "") + (task.completedBy === "emergency" ? ", by its emergency handler" : ""),
    ],
    ...cancelledBy(task.cancelled),
    ...waitingFor(task),
    ["Service", service === null ? "-" : `${service.name} (${service.id})`],
    ...takenBy(task.taken),
    ["Pool", task.pool],
    ...(task.key === null
      ? []
      : [["Key", task.key, task.runsAgain ? ", newer params wait for its end" : ""] satisfies Field]),
    ["Priority", String(task.priority)],
    [
      "Attempts",
      `${task.failures} failed, ${task.interruptions} interrupted, sent ${timesOf(task.sends)}${task.postpones === 0 ? "" : `, postponed ${timesOf(task.postpones)}`}`,
    ],
    ...(task.interrupted ?? []).map((one): Field => ["Interrupted", interruptionText(one, look.nowMs)]),
    ...(task.parentId === null ? [] : [["Created by", task.parentId] satisfies Field]),
    ...(task.created ?? []).map(({ id, type, outcome }): Field => ["Has created", `${type} ${id}, ${outcome}`]),
    ...(task.refused ?? []).map(({ type, detail }): Field => ["Refused", `${type}: ${detail}`]),
    ...ofFlow(task.flow),
    ["Due", task.dueAt],
    ["Created", moment(task.createdAt, look.nowMs)],
    ...(task.edits ?? []).map(
      ({ at, by, before }): Field => ["Params changed", `${moment(at, look.nowMs)} by ${by}, before: ${jsonText(before)}`],
    ),
  ];
  fields.push(whoDidWhat(task.id));
  if (startedAt !== null) fields.push(["Started", moment(startedAt, look.nowMs)]);
  if (endedAt !== null) fields.push(["Ended", moment(endedAt, look.nowMs)]);
  if (output !== null) fields.push(["Result", jsonText(output)]);
  if (lastError !== null) fields.push(["Last error", red(errorLine(lastError))]); // the stack of the last error follows
  const stack = stackLines(lastError?.stack).map((line) => `${line}\n`);
  return `${fieldLines(fields, look.paint)}${stack.join("")}${paramLines(task.params)}`;
}

const timesOf = (count: number): string => (count === 1 ? "once" : count === 2 ? "twice" : `${count} times`);

function waitingFor({ waitsFor, postponedFor, pool }: TaskView): Field[] {
  if (waitsFor === null) return [];
  const more = waitsFor === "taker" ? `: somebody who takes from the pool ${pool}` : "";
  return [["Waits for", postponedFor === null ? `${waitsFor}${more}` : `${waitsFor}: ${postponedFor}`]];
}

type Interrupted = NonNullable<TaskView["interrupted"]>[number];

function interruptionText({ at, reason, service, takenBy, detail }: Interrupted, nowMs: number): string {
  const whose = takenBy === null ? `on ${service?.name ?? "an unknown service"}` : `taken by ${takenBy}`;
  return `${moment(at, nowMs)} ${whose}: ${reason}${detail === null ? "" : `: ${detail}`}`;
}

/** With many others it may be none of those that the audit trail names: the request finds its entry. */
const cancelledBy = (cancelled: TaskView["cancelled"]): Field[] =>
  cancelled === null
    ? []
    : [["Cancelled by", cancelled.by, ` (unacked get audit --filter requestId=${cancelled.requestId})`]];

const takenBy = (taken: TaskView["taken"]): Field[] =>
  taken === null ? [] : [["Taken by", taken.by, taken.until === null ? "" : ` until ${taken.until}`]];

const ofFlow = (flow: TaskView["flow"]): Field[] =>
  flow === null ? [] : [["Flow", `${flow.id}, as ${flow.ref}`, flow.reason === null ? "" : `: ${flow.reason}`]];

function paramLines(params: unknown): string {
  const isEmpty = typeof params === "object" && params !== null && Object.keys(params).length === 0;
  if (isEmpty) return "Params:         -\n";
  const lines = yamlText(params).trimEnd().split("\n");
  return `Params:\n${lines.map((line) => `  ${plainText(line)}\n`).join("")}`;
}

function runLines(observer: ObserverView, runs: RunView[], { paint, nowMs }: Look): string {
  if (runs.length === 0) return "Runs:           none yet\n";
  const lines = new Table(RUN_LISTING.columns, { paint }).lines(runs.slice(0, MAX_RUNS), nowMs);
  const rest = runs.length > MAX_RUNS ? [plainText(`… and older ones: unacked get runs ${observer.name}`)] : [];
  return `Runs:\n${[...lines, ...rest].map((line) => `  ${line}\n`).join("")}`;
}

interface OfService {
  service: ServiceView;
  observers: ObserverView[];
  /** The newest of those that run on it. */
  tasks: TaskPage;
}

/** Describes one service and what it runs. */
export function describeService({ service, observers, tasks }: OfService, look: Look): string {
  const fields: Field[] = [
    ["Name", service.name],
    ["Id", service.id],
    ["State", serviceState(service)],
    ["Pool", service.pool],
    ["Workers", `${service.running} running of ${service.workerCount}, room for ${service.free} more`],
    ...(service.notConsuming === null
      ? []
      : [["Takes no work", { text: service.notConsuming, colour: "yellow" }] satisfies Field]),
    ["Types", service.types.join(", ") || "-"],
    ["Tasks", service.tasks ? `${service.tasks.workers} at once: ${service.tasks.types.join(", ") || "no types"}` : "-"],
    ["Version", service.version],
    ["Process", `${service.pid} on ${service.host}`],
    ["Memory", readableBytes(service.memoryBytes)],
    ["Event loop lag", `${Math.round(service.eventLoopLagMs)}ms`],
    ["Heartbeat", exactDuration(service.heartbeatMs)],
    ["Connections", `${service.generation} so far`],
    ["Started", moment(service.startedAt, look.nowMs)],
    ["Last seen", moment(service.lastSeenAt, look.nowMs)],
    whoDidWhat(service.name, "service"),
  ];
  if (service.endedAt !== null)
    fields.push(["Ended", `${moment(service.endedAt, look.nowMs)}: ${service.endReason ?? "-"}`]);
  if (service.reload !== null) {
    const { askedAt, answer } = service.reload;
    fields.push(["Reload", `${answer?.outcome ?? "no answer yet"}, asked for at ${moment(askedAt, look.nowMs)}`]);
  }
  if (service.brokerLoss !== null) fields.push(["Broker loss", red(jsonText(service.brokerLoss))]);
  const head = `${fieldLines(fields, look.paint)}${brokenFileText(service)}${slotText(service, look)}`;
  return `${head}${observerLines(observers, look)}${taskLines(service, tasks, look)}`;
}

function observerLines(observers: ObserverView[], { paint, nowMs }: Look): string {
  if (observers.length === 0) return "Observers:      none\n";
  const lines = new Table(OBSERVER_LISTING.columns, { paint }).lines(observers, nowMs);
  return `Observers:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

/** Of a service that takes no tasks it says nothing; one that has ended may still have some, until they are known to be lost. */
function taskLines({ id, tasks }: ServiceView, { items, total, isTotalExact }: TaskPage, { paint, nowMs }: Look): string {
  if (items.length === 0) return tasks === null ? "" : "Running tasks:  none\n";
  const lines = new Table(TASK_LISTING.columns, { paint }).lines(items, nowMs);
  const more = `${isTotalExact ? "" : "at least "}${total - items.length} more`;
  const rest = total > items.length ? [`… and ${more}: unacked get tasks --filter service=${id}`] : [];
  return `Running tasks:\n${[...lines, ...rest].map((line) => `  ${line}\n`).join("")}`;
}

const whoDidWhat = (target: string, kind?: AuditedKind): Field => [
  "Who did what",
  auditCommand(target, kind),
  " (for admins)",
];

/** An id alone is clear without its kind. */
export const auditCommand = (target: string, kind?: AuditedKind): string =>
  `unacked get audit --filter target=${target}${kind === undefined ? "" : ` --filter targetKind=${kind}`}`;

const LABEL_WIDTH = 16;

/** Values are made plain here, before they are painted, so that no field can forget it. */
const fieldLines = (fields: Field[], paint: Paint): string =>
  fields
    .map(([label, value, behind = ""]) => {
      const { text, colour } = typeof value === "string" ? { text: value, colour: undefined } : value;
      return `${`${label}:`.padEnd(LABEL_WIDTH)}${paint(colour, plainText(text))}${plainText(behind)}\n`;
    })
    .join("");

const red = (text: string): Cell => ({ text, colour: "red" });

const moment = (timestamp: string, nowMs: number): string => `${timestamp} (${ageOf(timestamp, nowMs)} ago)`;

/** `undefined` comes from a manager of an older version. */
export function silenceText(silence: ObserverView["silence"] | undefined): string {
  if (silence === undefined || silence === null) return "as its type defines";
  const { warnAfterMs, restartAfterMs } = silence;
  const parts = [
    ...(warnAfterMs === undefined ? [] : [`warning after ${exactDuration(warnAfterMs)}`]),
    ...(restartAfterMs === undefined ? [] : [`restart after ${exactDuration(restartAfterMs)}`]),
  ];
  return parts.join(", ") || "not watched";
}

export function retryText({ maxAttempts, delaysMs, resetAfterMs }: RetryPolicy): string {
  const attempts = maxAttempts === "unlimited" ? "unlimited attempts" : `at most ${maxAttempts} attempts`;
  const delays = Array.isArray(delaysMs)
    ? `after ${delaysMs.map(exactDuration).join(", ")}`
    : `after ${exactDuration(delaysMs.initialMs)}, then ×${delaysMs.factor} up to ${exactDuration(delaysMs.maxMs)}`;
  return `${attempts}, ${delays}; counted from 0 again after ${exactDuration(resetAfterMs)} without a failure`;
}
