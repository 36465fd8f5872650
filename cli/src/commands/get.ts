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
} from "../input/filters.ts";
import { KINDS, type Kind, toKind } from "../input/kinds.ts";
import type { Io } from "../io.ts";
import { AUDIT_LISTING } from "../output/audit-listing.ts";
import { ERROR_GROUP_LISTING, ERROR_LISTING } from "../output/error-listings.ts";
import { ListPrinter, printOne } from "../output/list-printer.ts";
import { type Listing } from "../output/listing.ts";
import { FAILURE_LISTING, OBSERVER_LISTING, RUN_LISTING, runsOf, TYPE_LISTING } from "../output/observer-listings.ts";
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
  switch (found) {
    case "observers":
      return names.length > 0
        ? showNamed(session, OBSERVER_LISTING, names, options, (name) => session.api.getObserver(name))
        : printPages(session, OBSERVER_LISTING, options, observerPages(session, options));
    case "services":
      return getServices(session, names, options);
    case "tasks":
      return names.length > 0
        ? showNamed(session, TASK_LISTING, names, options, (id) => session.api.getTask(id))
        : printPages(session, TASK_LISTING, options, session.api.taskPages(parseTaskFilters(options.filter), options.limit));
    case "task-types":
      return getTaskTypes(session, names, options);
    case "task-figures":
      return getTaskFigures(session, names, options);
    case "task-failures":
      if (names.length > 0) throw usageFailure("Failures are listed, not named");
      return printPages(session, TASK_FAILURE_LISTING, options, once(await session.api.groupTaskFailures()));
    case "flows":
      return names.length > 0
        ? showNamed(session, FLOW_LISTING, names, options, (id) => session.api.getFlow(id))
        : printPages(session, FLOW_LISTING, options, session.api.flowPages(parseFlowFilters(options.filter), options.limit));
    case "timers":
      return names.length > 0
        ? showNamed(session, TIMER_LISTING, names, options, (id) => session.api.getTimer(id))
        : printPages(
            session,
            TIMER_LISTING,
            options,
            session.api.timerPages(parseTimerFilters(options.filter), options.limit),
          );
    case "schedules":
      return names.length > 0
        ? showNamed(session, SCHEDULE_LISTING, names, options, (id) => session.api.getSchedule(id))
        : printPages(
            session,
            SCHEDULE_LISTING,
            options,
            session.api.schedulePages(parseScheduleFilters(options.filter), options.limit),
          );
    case "occurrences":
      return getOccurrences(session, names, options);
    case "runs":
      return getRuns(session, names, options);
    case "errors":
      return getErrors(session, names, options);
    case "failures":
      if (names.length > 0) throw usageFailure("Failures are listed, not named");
      return printPages(session, FAILURE_LISTING, options, once(await session.api.observerErrorGroups()));
    case "types":
      return getTypes(session, names, options);
    case "audit":
      return getAudit(session, names, options);
    default:
      return found satisfies never;
  }
}

function observerPages({ api }: Session, options: GetOptions): AsyncIterable<ObserverView[]> {
  const filter = parseFilters(options.filter, options.selector) ?? {};
  return api.observerPages(options.all === true ? filter : { status: [...LIVING_STATUSES], ...filter }, options);
}

async function getServices(session: Session, names: string[], options: GetOptions): Promise<void> {
  const services = await session.api.listServices({ all: options.all === true });
  if (names.length === 0) return printPages(session, SERVICE_LISTING, options, once(services));
  return showNamed(session, SERVICE_LISTING, names, options, async (name) => findService(services, name));
}

async function getTypes(session: Session, names: string[], options: GetOptions): Promise<void> {
  const types = await session.api.listTypes();
  if (names.length === 0) return printPages(session, TYPE_LISTING, options, once(types));
  return showNamed(session, TYPE_LISTING, names, options, async (name) => typeNamed(types, name, "types"));
}

async function getTaskTypes(session: Session, names: string[], options: GetOptions): Promise<void> {
  const types = await session.api.listTaskTypes();
  if (names.length === 0) return printPages(session, TASK_TYPE_LISTING, options, once(types));
  return showNamed(session, TASK_TYPE_LISTING, names, options, async (name) => typeNamed(types, name, "task-types"));
}

async function getTaskFigures(session: Session, names: string[], options: GetOptions): Promise<void> {
  const figures = await session.api.listTaskFigures();
  if (names.length === 0) return printPages(session, TASK_FIGURE_LISTING, options, once(figures));
  return showNamed(session, TASK_FIGURE_LISTING, names, options, async (name) => typeNamed(figures, name, "task-figures"));
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
  const runs: RunView[] = [];
  const named = new Map<string, string>();
  for (const name of names)
    for (const run of await session.api.listRuns(name)) {
      runs.push(run);
      named.set(run.observerId, name);
    }
  return printPages(session, names.length > 1 ? runsOf(named) : RUN_LISTING, options, once(runs));
}

async function getOccurrences(session: Session, names: string[], options: GetOptions): Promise<void> {
  const [schedule] = names;
  if (schedule === undefined || names.length > 1) throw usageFailure("Of which schedule?", "unacked get occurrences NAME");
  const found = await session.api.listOccurrences(schedule, Math.min(options.limit ?? MOST_OCCURRENCES, MOST_OCCURRENCES));
  return printPages(session, OCCURRENCE_LISTING, options, once(found));
}

function getErrors(session: Session, names: string[], options: GetOptions): Promise<void> {
  if (names.length > 0) return showNamed(session, ERROR_LISTING, names, options, (id) => session.api.getError(id));
  if (options.groups === true) return printErrorGroups(session, options);
  const pages = session.api.errorPages(parseErrorFilters(options.filter), options.limit);
  return printPages(session, ERROR_LISTING, options, pages);
}

function getAudit(session: Session, names: string[], options: GetOptions): Promise<void> {
  if (names.length > 0) throw usageFailure("The audit trail is listed, not named", "Filter it: --filter observer=NAME");
  const pages = session.api.auditPages(parseAuditFilters(options.filter), options.limit);
  return printPages(session, AUDIT_LISTING, options, pages);
}

async function printErrorGroups(session: Session, options: GetOptions): Promise<void> {
  return printPages(session, ERROR_GROUP_LISTING, options, once(await session.api.errorGroups()));
}

/** Each that is named, in order. One that is not found does not hide the others, and fails the command. */
async function showNamed<Row>(
  { io, print }: Session,
  listing: Listing<Row>,
  names: string[],
  options: GetOptions,
  find: (name: string) => Promise<Row>,
): Promise<void> {
  const format = print(options.output);
  if (names.length === 1) return io.out(printOne(listing, await find(names[0] as string), format));
  const printer = new ListPrinter(listing, format);
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
  io.out(printer.rows(found) + printer.end());
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

/** An option that means nothing for a kind is a mistake: passed over, it would show more than was asked for. */
function refuseOptions(kind: Kind, { filter, selector, sort, groups, limit }: GetOptions): void {
  const isObservers = kind === "observers";
  const isErrors = kind === "errors";
  const isPaged = isObservers || (["errors", "audit", "tasks", "flows", "timers", "schedules"] as Kind[]).includes(kind);
  const isLimited = isPaged || kind === "occurrences";
  const wrong = [
    ...(filter !== undefined && !isPaged ? ["--filter"] : []),
    ...(selector !== undefined && !isObservers ? ["--selector"] : []),
    ...(sort !== undefined && !isObservers ? ["--sort"] : []),
    ...(limit !== undefined && !isLimited ? ["--limit"] : []),
    ...(groups !== undefined && !isErrors ? ["--groups"] : []),
  ];
  if (wrong.length > 0) throw usageFailure(`${wrong.join(", ")}: not of ${kind}`);
}
