import { LIVING_STATUSES, type ObserverView, type RunView } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { asRefusal, CliFailure, usageFailure } from "../failure.ts";
import { toCount } from "../input/count.ts";
import {
  parseAuditFilters,
  parseErrorFilters,
  parseFilters,
  parseFlowFilters,
  parseScheduleFilters,
  parseTaskFilters,
  parseTimerFilters,
  toQuery,
} from "../input/filters.ts";
import { KINDS, type Kind, toKind } from "../input/kinds.ts";
import type { Io } from "../io.ts";
import { AUDIT_LISTING } from "../output/audit-listing.ts";
import { ERROR_GROUP_LISTING, ERROR_LISTING } from "../output/error-listings.ts";
import { ListPrinter, printOne } from "../output/list-printer.ts";
import { type Listing } from "../output/listing.ts";
import { FAILURE_LISTING, OBSERVER_LISTING, RUN_LISTING, runsOf, TYPE_LISTING } from "../output/observer-listings.ts";
import { plainLine } from "../output/plain-text.ts";
import { SERVICE_LISTING } from "../output/service-listing.ts";
import {
  FLOW_LISTING,
  TASK_FAILURE_LISTING,
  TASK_FIGURE_LISTING,
  TASK_LISTING,
  TASK_TYPE_LISTING,
} from "../output/task-listings.ts";
import { OCCURRENCE_LISTING, SCHEDULE_LISTING, TIMER_LISTING } from "../output/time-listings.ts";
import { failureText } from "../report.ts";
import { openSession, type Session } from "../session.ts";
import { findService } from "./find-service.ts";
import { addSelectionOptions, type OutputOptions, outputOption, type SelectionOptions } from "./option-sets.ts";

/** What one call answers; of a schedule they are kept by count, at most as many and a fifth. */
const MOST_OCCURRENCES = 1_000;

interface GetOptions extends OutputOptions, SelectionOptions {
  all?: boolean;
  sort?: string;
  limit?: number;
  groups?: boolean;
}

export function addGet(program: Command, io: Io): void {
  const get = program
    .command("get")
    .summary("list observers, services, tasks, flows, timers, schedules, runs, errors, failures, types or the audit trail")
    .description(
      "List what there is, or show what is named. Kinds: observers (obs), services (svc), tasks, task-types (with their limits), task-figures (how each type goes: what waits and runs, load, and what was in the last one to two minutes), task-failures (what is Failed, by what went wrong), flows (tasks that wait for each other), timers, schedules, occurrences (what became of the times of one schedule), runs, errors (messages that could not be read or were given up), failures (what observers failed of last, counted together), types, audit (who changed what; for admins).",
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
    .argument("[names...]", "names or ids; of runs: of their observers; of occurrences: of their schedule")
    .addOption(outputOption())
    .option("-a, --all", "observers that are deleted and services that have ended, too")
    .addOption(new Option("--sort <order>", "of observers").choices(["newest", "oldest", "attempts"]))
    .option("--groups", "of errors: what says the same, counted together")
    .addOption(
      new Option(
        "--limit <count>",
        "of observers, tasks, flows, timers, schedules, occurrences, errors and the audit trail: at most so many",
      ).argParser(toCount),
    );
  addSelectionOptions(command).action((kind: string, names: string[], options: GetOptions, self: Command) =>
    get(openSession(io, self), { kind, names, options }),
  );
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
      return printPages(session, TASK_FAILURE_LISTING, options, once((await api.call("groupTaskFailures", {})).items));
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
      if (names.length > 0) throw usageFailure("The audit trail is listed, not named", "Filter it: --filter observer=NAME");
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

async function getRuns(session: Session, names: string[], options: GetOptions): Promise<void> {
  if (names.length === 0) throw usageFailure("Of which observer?", "unacked get runs NAME");
  if (names.length === 1)
    return printPages(session, RUN_LISTING, options, once(await runsOfOne(session, names[0] as string)));
  const named = new Map<string, string>();
  const { found, missing } = await eachFound(session, names, async (name) => {
    const runs = await runsOfOne(session, name);
    for (const { observerId } of runs) named.set(observerId, name);
    return runs;
  });
  await printPages(session, runsOf(named), options, once(found.flat()));
  failForMissing(missing, names);
}

/** Those that there are beyond what one call gives are not passed over in silence. */
async function runsOfOne({ api, io }: Session, ref: string): Promise<RunView[]> {
  const { items, total } = await api.call("listRuns", { path: { ref } });
  if (total > items.length) io.err(plainLine(`runs of ${ref}: the newest ${items.length} of ${total}`));
  return items;
}

async function getOccurrences(session: Session, names: string[], options: GetOptions): Promise<void> {
  const [scheduleId] = names;
  if (scheduleId === undefined || names.length > 1) throw usageFailure("Of which schedule?", "unacked get occurrences NAME");
  const query = { limit: Math.min(options.limit ?? MOST_OCCURRENCES, MOST_OCCURRENCES) };
  const { items } = await session.api.call("listOccurrences", { path: { scheduleId }, query });
  return printPages(session, OCCURRENCE_LISTING, options, once(items));
}

/** How things of a kind are read. */
interface Ways<Row> {
  one(name: string): Promise<Row>;
  all(): AsyncIterable<Row[]>;
}

interface Asked<Row> extends Ways<Row> {
  names: string[];
  options: GetOptions;
}

function showOrList<Row>(session: Session, listing: Listing<Row>, { names, options, one, all }: Asked<Row>): Promise<void> {
  if (names.length > 0) return showNamed(session, listing, names, options, one);
  return printPages(session, listing, options, all());
}

/** Each that is named, in order. One that is not found does not hide the others, and fails the command. */
async function showNamed<Row>(
  session: Session,
  listing: Listing<Row>,
  names: string[],
  options: GetOptions,
  find: (name: string) => Promise<Row>,
): Promise<void> {
  const { io, print } = session;
  const format = print(options.output);
  if (names.length === 1) return io.out(printOne(listing, await find(names[0] as string), format));
  const printer = new ListPrinter(listing, format);
  const { found, missing } = await eachFound(session, names, find);
  io.out(printer.rows(found) + printer.end());
  failForMissing(missing, names);
}

/** Says which are not to be had. */
async function eachFound<Row>({ io }: Session, names: string[], find: (name: string) => Promise<Row>) {
  const found: Row[] = [];
  let missing = 0;
  for (const name of names) {
    try {
      found.push(await find(name));
    } catch (error) {
      io.err(failureText(asRefusal(error)));
      missing += 1;
    }
  }
  return { found, missing };
}

function failForMissing(missing: number, names: string[]): void {
  if (missing > 0) throw new CliFailure("failed", `${missing} of ${names.length} were not found`);
}

async function printPages<Row>(
  { io, print }: Session,
  listing: Listing<Row>,
  { output }: GetOptions,
  pages: AsyncIterable<Row[]>,
): Promise<void> {
  const printer = new ListPrinter(listing, print(output));
  for await (const page of pages) {
    io.out(printer.rows(page));
    if (io.outIsClosed()) return;
  }
  io.out(printer.end());
  if (printer.count === 0 && (output === "table" || output === "wide")) io.err("Nothing found.\n");
}

async function* once<Row>(rows: Row[]): AsyncGenerator<Row[]> {
  yield rows;
}

const WHERE_IT_IS: Readonly<Record<string, string>> = {
  "--all": "It is of observers and services.",
  "--selector": "It is of observers.",
  "--sort": "It is of observers.",
  "--groups": "It is of errors; what observers failed of, counted together: unacked get failures.",
};

/** An option that means nothing for a kind is a mistake: passed over, it would show something else than was asked for. */
function refuseOptions(kind: Kind, { all, filter, selector, sort, groups, limit }: GetOptions): void {
  const isObservers = kind === "observers";
  const isErrors = kind === "errors";
  const isPaged = isObservers || (["errors", "audit", "tasks", "flows", "timers", "schedules"] as Kind[]).includes(kind);
  const isLimited = isPaged || kind === "occurrences";
  const wrong = [
    ...(all !== undefined && !isObservers && kind !== "services" ? ["--all"] : []),
    ...(filter !== undefined && (!isPaged || groups === true) ? ["--filter"] : []),
    ...(selector !== undefined && !isObservers ? ["--selector"] : []),
    ...(sort !== undefined && !isObservers ? ["--sort"] : []),
    ...(limit !== undefined && (!isLimited || groups === true) ? ["--limit"] : []),
    ...(groups !== undefined && !isErrors ? ["--groups"] : []),
  ];
  if (wrong.length === 0) return;
  const remedy = wrong.flatMap((option) => WHERE_IT_IS[option] ?? []).join(" ");
  throw usageFailure(`${wrong.join(", ")}: not of ${groups === true && isErrors ? "groups" : kind}`, remedy);
}

/** What is named is shown, whatever it is like: passed over, a filter would seem to say that it is like that. */
function refuseSelecting(kind: Kind, { filter, selector, sort, groups, limit }: GetOptions): void {
  const wrong = [
    ...(filter !== undefined ? ["--filter"] : []),
    ...(selector !== undefined ? ["--selector"] : []),
    ...(sort !== undefined ? ["--sort"] : []),
    ...(limit !== undefined ? ["--limit"] : []),
    ...(groups !== undefined ? ["--groups"] : []),
  ];
  if (wrong.length > 0)
    throw usageFailure(`${wrong.join(", ")}: not with names`, `Either name ${kind}, or choose them by options.`);
}
