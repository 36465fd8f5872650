import { LIVING_STATUSES, type ObserverView } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { toCount } from "../input/count.ts";
import {
  parseAuditFilters,
  parseErrorFilters,
  parseFilters,
  parseFlowFilters,
  parseScheduleFilters,
  parseTaskFailureFilters,
  parseTaskFilters,
  parseTimerFilters,
  toQuery,
} from "../input/filters.ts";
import { KINDS, type Kind, toKind } from "../input/kinds.ts";
import type { Io } from "../io.ts";
import { AUDIT_LISTING } from "../output/audit-listing.ts";
import { ERROR_GROUP_LISTING, ERROR_LISTING } from "../output/error-listings.ts";
import type { Listing } from "../output/listing.ts";
import { FAILURE_LISTING, OBSERVER_LISTING, TYPE_LISTING } from "../output/observer-listings.ts";
import { plainLine } from "../output/plain-text.ts";
import { SERVICE_LISTING } from "../output/service-listing.ts";
import {
  FLOW_LISTING,
  TASK_FAILURE_LISTING,
  TASK_FIGURE_LISTING,
  TASK_LISTING,
  TASK_TYPE_LISTING,
} from "../output/task-listings.ts";
import { SCHEDULE_LISTING, TIMER_LISTING } from "../output/time-listings.ts";
import { openSession, type Session } from "../session.ts";
import { findService } from "./find-service.ts";
import { type GetOptions, refuseOptions, refuseSelecting } from "./get-options.ts";
import { getOccurrences, getRuns } from "./get-runs.ts";
import { addSelectionOptions, outputOption } from "./option-sets.ts";
import { once, printPages, showOrList, type Ways } from "./show-rows.ts";

export function addGet(program: Command, io: Io): void {
  const get = program
    .command("get")
    .summary("list observers, services, tasks, flows, timers, schedules, runs, errors, failures, types or the audit trail")
    .description(
      "List what there is, or show what is named. Kinds: observers (obs), services (svc), tasks, task-types (with their limits), task-figures (of each task type: what waits and runs, its load, and what was done in the last one to two minutes), task-failures (Failed tasks, grouped by what went wrong), flows (tasks that wait for each other), timers, schedules, occurrences (what became of the times of one schedule), runs, errors (messages that could not be read or were given up), failures (why observers failed last, counted together), types, audit (who changed what; for admins).",
    )
    .argument("<kind>", KINDS.join("|"));
  const lists = ["ls", "list"].map((name) =>
    program
      .command(name, { hidden: name === "list" })
      .summary("the same as get; without a kind: observers (also list)")
      .argument("[kind]", KINDS.join("|"), "observers" satisfies Kind),
  );
  for (const command of [get, ...lists]) addGetOptions(command, io);
}

function addGetOptions(command: Command, io: Io): void {
  command
    .argument("[names...]", "names or ids; for runs: of their observers; for occurrences: of their schedule")
    .addOption(outputOption())
    .option("-a, --all", "include deleted observers, and services that have ended")
    .addOption(new Option("--sort <order>", "the order of observers").choices(["newest", "oldest", "attempts"]))
    .option("--groups", "for errors: count those with the same text together")
    .addOption(
      new Option(
        "--limit <count>",
        "show at most this many: for observers, tasks, flows, timers, schedules, occurrences, errors and the audit trail",
      ).argParser(toCount),
    );
  addSelectionOptions(command).action((kind: string, names: string[], options: GetOptions, self: Command) =>
    get(openSession(io, self), { kind, names, options }),
  );
}

/** What was not looked at is said, as else the counts would seem to be all. */
async function getTaskFailures(session: Session, options: GetOptions): Promise<void> {
  const { items, isComplete } = await session.api.call("groupTaskFailures", {
    query: parseTaskFailureFilters(options.filter),
  });
  await printPages(session, TASK_FAILURE_LISTING, options, once(items));
  if (isComplete) return;
  const newest = items.reduce((sum, { count }) => sum + count, 0);
  session.io.err(plainLine(`More tasks are Failed: these are the newest ${newest}. Older ones are counted nowhere here.`));
}

async function get(session: Session, { kind, names, options }: { kind: string; names: string[]; options: GetOptions }) {
  const found = toKind(kind);
  refuseOptions(found, options);
  const { api } = session;
  const { filter, limit } = options;
  const show = <Row>(listing: Listing<Row>, ways: Ways<Row>) => {
    if (names.length > 0) refuseSelecting(found, options);
    return showOrList(session, listing, { names, options, ...ways });
  };
  const showTypes = <Row extends { type: string }>(listing: Listing<Row>, types: Row[]) =>
    show(listing, { one: async (name) => typeNamed(types, name, found), all: () => once(types) });
  switch (found) {
    case "observers":
      return show(OBSERVER_LISTING, {
        one: (ref) => api.call("getObserver", { path: { ref } }),
        all: () => observerPages(session, options),
      });
    case "services": {
      const { items } = await api.call("listServices", options.all === true ? { query: { all: true } } : {});
      return show(SERVICE_LISTING, { one: async (name) => findService(items, name), all: () => once(items) });
    }
    case "tasks":
      return show(TASK_LISTING, {
        one: (taskId) => api.call("getTask", { path: { taskId } }),
        all: () => api.pages("listTasks", parseTaskFilters(filter), limit),
      });
    case "task-types":
      return showTypes(TASK_TYPE_LISTING, (await api.call("listTaskTypes", {})).items);
    case "task-figures":
      return showTypes(TASK_FIGURE_LISTING, (await api.call("listTaskFigures", {})).items);
    case "task-failures":
      if (names.length > 0) throw usageFailure("Failures are listed, not named");
      return getTaskFailures(session, options);
    case "flows":
      return show(FLOW_LISTING, {
        one: (flowId) => api.call("getFlow", { path: { flowId } }),
        all: () => api.pages("listFlows", parseFlowFilters(filter), limit),
      });
    case "timers":
      return show(TIMER_LISTING, {
        one: (timerId) => api.call("getTimer", { path: { timerId } }),
        all: () => api.pages("listTimers", parseTimerFilters(filter), limit),
      });
    case "schedules":
      return show(SCHEDULE_LISTING, {
        one: (scheduleId) => api.call("getSchedule", { path: { scheduleId } }),
        all: () => api.pages("listSchedules", parseScheduleFilters(filter), limit),
      });
    case "occurrences":
      return getOccurrences(session, names, options);
    case "runs":
      return getRuns(session, names, options);
    case "errors":
      if (names.length === 0 && options.groups === true)
        return printPages(session, ERROR_GROUP_LISTING, options, once((await api.call("groupErrors", {})).items));
      return show(ERROR_LISTING, {
        one: (errorId) => api.call("getError", { path: { errorId } }),
        all: () => api.pages("listErrors", parseErrorFilters(filter), limit),
      });
    case "failures":
      if (names.length > 0) throw usageFailure("Failures are listed, not named");
      return printPages(session, FAILURE_LISTING, options, once((await api.call("getErrorStats", {})).items));
    case "types":
      return showTypes(TYPE_LISTING, (await api.call("listTypes", {})).items);
    case "audit":
      if (names.length > 0) throw usageFailure("The audit trail is listed, not named", "Filter it: --filter target=NAME");
      return printPages(session, AUDIT_LISTING, options, api.pages("listAudit", parseAuditFilters(filter), limit));
    default:
      return found satisfies never;
  }
}

function observerPages({ api }: Session, options: GetOptions): AsyncIterable<ObserverView[]> {
  const filter = parseFilters(options.filter, options.selector) ?? {};
  const query = toQuery(options.all === true ? filter : { status: [...LIVING_STATUSES], ...filter });
  return api.pages("listObservers", { ...query, sort: options.sort }, options.limit);
}

function typeNamed<Type extends { type: string }>(types: Type[], name: string, kind: Kind): Type {
  const found = types.find(({ type }) => type === name);
  if (found !== undefined) return found;
  throw new CliFailure("failed", `No living service has the type ${name}`, {
    code: "type-not-found",
    remedy: `See: unacked get ${kind}`,
  });
}
