import {
  type CreateObserver,
  LIVING_STATUSES,
  type ObserverStatus,
  type ObserverView,
  specOf,
  traitsOf,
} from "@unacked/contracts";
import type { Command } from "commander";
import { asRefusal, CliFailure, usageFailure } from "../failure.ts";
import { parseFilters } from "../input/filters.ts";
import { type Difference, differencesOf } from "../input/observer-difference.ts";
import { refuseAtRest } from "../input/observer-documents.ts";
import { differencesOfSchedule } from "../input/schedule-difference.ts";
import type { ScheduleDocument } from "../input/schedule-documents.ts";
import type { Io } from "../io.ts";
import { differenceLines } from "../output/difference-text.ts";
import { plainLine, plainLines } from "../output/plain-text.ts";
import { failureText } from "../report.ts";
import { openSession, type Session } from "../session.ts";
import { changeMany } from "./bulk.ts";
import { createAll } from "./creation.ts";
import { inParallel } from "./in-parallel.ts";
import { addFileOptions, type FileOptions, repeatable } from "./option-sets.ts";
import { NO_TIMES, putSchedules } from "./put-schedules.ts";
import { readAll } from "./read-files.ts";
import { Results } from "./results.ts";
import { stopping } from "./stop.ts";

interface ApplyOptions extends FileOptions {
  prune?: boolean;
  selector?: string[];
  dryRun?: boolean;
  queue?: boolean;
}

export function addApply(program: Command, io: Io): void {
  const command = program
    .command("apply")
    .summary("have observers as files define them")
    .description(
      "Create what is missing, change what is otherwise, and leave what is the same. A changed observer keeps its id and history; its run is stopped and started anew, unless only labels differ. With --dry-run nothing is done, and the exit code is 6 if anything would be. A document with the key `schedule` is a schedule, by that id: it is created, or replaced where it differs.",
    );
  addFileOptions(command)
    .option("--prune", "stop observers with the label of --selector that the files do not define")
    .addOption(repeatable("-l, --selector <key=value>", "with --prune: the label of what belongs to these files"))
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--queue", "wait in the queue when no worker is free, rather than be refused")
    .action((options: ApplyOptions, self: Command) => apply(openSession(io, self), options));
}

/**
 * Comes in: documents. Guarantees: nothing is changed before every document has been read, checked and compared; what is
 * there by its name is never created twice, as the name decides. A crash in the middle leaves some created: apply again.
 */
async function apply(session: Session, options: ApplyOptions): Promise<void> {
  if (options.filename === undefined) throw usageFailure("Which files?", "unacked apply -f FILE");
  if ((options.prune === true) !== (options.selector !== undefined)) {
    throw usageFailure(
      "--prune and --selector go together",
      "Without a label it could not be known what belongs to the files.",
    );
  }
  const { observers, atRest, schedules } = readAll(session.io, options);
  const wanted = observers.map((each) => (options.queue === true ? { ...each, whenFull: "queue" as const } : each));
  const existing = await findExisting(session, wanted);
  const surplus = options.prune === true ? await findSurplus(session, wanted, options.selector ?? []) : [];
  const missing = wanted.filter(({ name }) => !existing.has(name) && !atRest.has(name));
  const refusedAtRest = [...atRest].filter(([name]) => !existing.has(name));
  const differing = tellSame(session, wanted, existing);
  refuseOtherTypes(differing);
  if (options.dryRun === true) return tellPlan(session, { missing, refusedAtRest, differing, surplus, schedules });
  const refused = refusedAtRest.length === 0 ? [] : [refuseAtRest(refusedAtRest)];
  const attempt = (part: Promise<void>) => part.catch((error: unknown) => void refused.push(asRefusal(error)));
  await attempt(createMissing(session, missing));
  await attempt(changeDiffering(session, differing));
  await attempt(putSchedules(session, schedules));
  if (refused.length === 0) return stopSurplus(session, surplus);
  tellAllButLast(session, refused, surplus.length);
}

/** What one part refuses costs the others nothing, but that nothing is stopped in place of what has not come. */
function tellAllButLast({ io }: Session, refused: CliFailure[], notStopped: number): void {
  for (const failure of refused.slice(0, -1)) io.err(failureText(failure));
  if (notStopped > 0)
    io.err(plainLine(`Nothing was stopped, as not all could be applied: ${notStopped} that no file defines.`));
  throw refused.at(-1);
}

/** Above this, reading the list is cheaper than asking for each. */
const MANY = 200;

async function findExisting({ api }: Session, wanted: CreateObserver[]): Promise<Map<string, ObserverView>> {
  const found = new Map<string, ObserverView>();
  if (wanted.length > MANY) {
    const names = new Set(wanted.map(({ name }) => name));
    for await (const page of api.observerPages({ status: [...LIVING_STATUSES] }))
      for (const observer of page) if (names.has(observer.name)) found.set(observer.name, observer);
    return found;
  }
  await inParallel(wanted, async ({ name }) => {
    const observer = await api.getObserver(name).catch((error: unknown) => {
      if (error instanceof CliFailure && error.code === "observer-not-found") return undefined;
      throw error;
    });
    if (observer !== undefined) found.set(name, observer);
  });
  return found;
}

async function findSurplus({ api }: Session, wanted: CreateObserver[], selectors: string[]): Promise<ObserverView[]> {
  const names = new Set(wanted.map(({ name }) => name));
  const surplus: ObserverView[] = [];
  const status = LIVING_STATUSES.filter((each) => !isEnding({ status: each }));
  for await (const page of api.observerPages({ ...parseFilters([], selectors), status }))
    surplus.push(...page.filter(({ name }) => !names.has(name)));
  return surplus;
}

/** What is there, and is to be otherwise. */
interface Differing {
  wanted: CreateObserver;
  observer: ObserverView;
  differences: Difference[];
}

/** It is there for a while still, and will not be: as it is, it is not what a file wants. */
const isEnding = ({ status }: Pick<ObserverView, "status">): boolean => traitsOf(status).run === "ending";

/** Says which are as they should be. @returns the others that are there */
function tellSame({ io }: Session, all: CreateObserver[], existing: Map<string, ObserverView>): Differing[] {
  const differing: Differing[] = [];
  for (const wanted of all) {
    const observer = existing.get(wanted.name);
    if (observer === undefined) continue;
    const differences = differencesOf(observer, specOf(wanted));
    if (isEnding(observer) || differences.length > 0 || observer.type !== wanted.type)
      differing.push({ wanted, observer, differences });
    else io.out(plainLine(`observer ${wanted.name} unchanged (${observer.status})`));
  }
  return differing;
}

function refuseOtherTypes(differing: Differing[]): void {
  const others = differing.filter(({ wanted, observer }) => wanted.type !== observer.type);
  if (others.length === 0) return;
  throw new CliFailure("failed", "The type of an observer cannot be changed", {
    code: "other-type",
    details: others.map(({ wanted, observer }) => `observer ${wanted.name}: ${observer.type}, not ${wanted.type}`),
    remedy: "Nothing was done. Stop it and apply again, or choose another name.",
  });
}

interface Plan {
  missing: CreateObserver[];
  refusedAtRest: [name: string, status: ObserverStatus][];
  differing: Differing[];
  surplus: ObserverView[];
  schedules: ScheduleDocument[];
}

/** Of a dry run. Fails where there is anything to do. */
async function tellPlan(
  { api, io }: Session,
  { missing, refusedAtRest, differing, surplus, schedules }: Plan,
): Promise<void> {
  for (const { name } of missing) io.out(plainLine(`observer ${name} would be created`));
  for (const [name, status] of refusedAtRest)
    io.out(plainLine(`observer ${name} would be refused: it would run, and was ${status} when it was written down`));
  for (const { wanted, observer, differences } of differing) {
    const what = isEnding(observer) ? "is being stopped, and would be refused until it is Deleted" : "would be changed";
    io.out(plainLines([`observer ${wanted.name} ${what}`, ...differenceLines(differences)]));
  }
  for (const { name } of surplus) io.out(plainLine(`observer ${name} would be stopped, as no file defines it`));
  let toDo = missing.length + refusedAtRest.length + differing.length + surplus.length;
  for (const schedule of schedules) toDo += (await tellPlanned({ api, io }, schedule)) ? 1 : 0;
  if (toDo > 0) throw new CliFailure("differs", `${toDo} would be created, changed or stopped`);
}

/** Of a schedule. @returns whether there is anything to do */
async function tellPlanned({ api, io }: Pick<Session, "api" | "io">, { id, body }: ScheduleDocument): Promise<boolean> {
  const { times } = await api.previewSchedule(id, body, 1);
  const isOver = times.length === 0 && body.task !== undefined; // hours that cover all the week never change either
  const found = await api.getSchedule(id).catch((error: unknown) => {
    if (error instanceof CliFailure && error.code === "schedule-not-found") return undefined;
    throw error;
  });
  const differences = found === undefined ? [] : differencesOfSchedule(found, body);
  const isSame = found !== undefined && differences.length === 0;
  const what = isSame ? "unchanged" : `would be ${found === undefined ? "created" : "replaced"}`;
  io.out(plainLines([`schedule ${id} ${what}${isOver ? NO_TIMES : ""}`, ...differenceLines(differences)]));
  return !isSame;
}

async function createMissing(session: Session, missing: CreateObserver[]): Promise<void> {
  if (missing.length === 0) return;
  const results = new Results(session, { format: "lines", asked: missing.length });
  await createAll(session, missing, (outcome) => results.tell(outcome, "created"));
  results.end();
}

/** The manager compares once more: somebody else may have been faster. */
async function changeDiffering(session: Session, differing: Differing[]): Promise<void> {
  if (differing.length === 0) return;
  const results = new Results(session, { format: "lines", asked: differing.length });
  await inParallel(differing, async ({ wanted, differences }) => {
    const outcome = await session.api.putObserver(wanted).catch(asRefusal);
    if (outcome instanceof CliFailure) return results.tell(outcome, "");
    const below = outcome.outcome === "changed" ? differenceLines(differences) : [];
    results.tell(outcome, `${outcome.outcome}${standingText(outcome)}`, below);
  });
  results.end();
}

/** What does not run takes a change, and waits with it. */
const standingText = ({ status }: ObserverView): string =>
  traitsOf(status).run === "none" || traitsOf(status).run === "on-hold" ? ` (${status}: it is so when it runs again)` : "";

async function stopSurplus(session: Session, surplus: ObserverView[]): Promise<void> {
  if (surplus.length === 0) return;
  const change = { ...stopping(session, false), done: "is being stopped, as no file defines it" };
  await changeMany(session, { refs: surplus.map(({ id }) => id) }, change, { dryRun: false, output: "lines" });
}
