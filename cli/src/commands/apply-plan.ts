import { type CreateObserver, LIVING_STATUSES, type ObserverView, specOf, traitsOf } from "@unacked/contracts";
import { CliFailure, noneIf, usageFailure } from "../failure.ts";
import { parseFilters } from "../input/filters.ts";
import { type Difference, differencesAt, differencesOf } from "../input/observer-difference.ts";
import { differencesOfSchedule } from "../input/schedule-difference.ts";
import type { ScheduleDocument } from "../input/schedule-documents.ts";
import { differenceLines, differenceText } from "../output/difference-text.ts";
import { plainLine, plainLines } from "../output/plain-text.ts";
import type { Session } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import type { FileOptions } from "./option-sets.ts";
import { NO_TIMES, previewOf } from "./put-schedules.ts";
import { readAll } from "./read-files.ts";
import { findSelected, type Selected } from "./selected.ts";

export interface PlanOptions extends FileOptions {
  prune?: boolean;
  selector?: string[];
  queue?: boolean;
}

/** What is to be done so that everything is as the files define it. */
export interface Plan {
  missing: CreateObserver[];
  /** Observers that do not exist and did not run when they were written down. If they were created, they would run. */
  refusedAtRest: [name: string, status: string][];
  differing: Differing[];
  /** Observers that no file defines, and that are to be stopped. */
  surplus: Selected;
  /** All schedules of the files: each is compared when it is put. */
  schedules: ScheduleDocument[];
}

/** An observer that exists and differs from its document. */
export interface Differing {
  wanted: CreateObserver;
  observer: ObserverView;
  differences: Difference[];
}

/** Reads and checks every document, compares it with what is there, and says which are as they should be. Changes nothing. */
export async function makePlan(session: Session, options: PlanOptions): Promise<Plan> {
  const { observers, atRest, schedules } = readAll(session.io, options);
  const wanted = observers.map((each) => (options.queue === true ? { ...each, whenFull: "queue" as const } : each));
  const { labels: pruned } = (options.prune === true && parseFilters([], options.selector)) || {};
  if (pruned !== undefined) refuseOtherLabels(wanted, pruned);
  const existing = await findExisting(session, wanted);
  const surplus = pruned === undefined ? { filter: {}, observers: [] } : await findSurplus(session, wanted, pruned);
  if (pruned !== undefined && wanted.length === 0 && surplus.observers.length > 0) refuseToStopAll(surplus, pruned);
  const missing = wanted.filter(({ name }) => !existing.has(name) && !atRest.has(name));
  const refusedAtRest = [...atRest].filter(([name]) => !existing.has(name));
  refuseUnchangeable(wanted, existing);
  const differing = tellSame(session, wanted, existing);
  return { missing, refusedAtRest, differing, surplus, schedules };
}

/** Above this count, reading the list is cheaper than asking for each. */
const MANY = 200;

async function findExisting({ api }: Session, wanted: CreateObserver[]): Promise<Map<string, ObserverView>> {
  const found = new Map<string, ObserverView>();
  if (wanted.length > MANY) {
    const names = new Set(wanted.map(({ name }) => name));
    for await (const page of api.pages("listObservers", { status: [...LIVING_STATUSES] }))
      for (const observer of page) if (names.has(observer.name)) found.set(observer.name, observer);
    return found;
  }
  await inParallel(wanted, async ({ name }) => {
    const observer = await api.call("getObserver", { path: { ref: name } }).catch(noneIf("observer-not-found"));
    if (observer !== undefined) found.set(name, observer);
  });
  return found;
}

type Labels = Readonly<Record<string, string>>;

const selectorOf = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");

/** The files define no observer, so nothing shows that these belong to them. */
function refuseToStopAll({ observers: { length: count } }: Selected, pruned: Labels): never {
  const selector = selectorOf(pruned);
  throw usageFailure(
    `--prune would stop all that have ${selector} (${count}): the files define no observer`,
    `To stop them: unacked stop -l ${selector}. Nothing was changed.`,
  );
}

/** A mistyped selector may match somebody else's observers: then those of these files lack it. */
function refuseOtherLabels(wanted: CreateObserver[], pruned: Labels): void {
  const selector = selectorOf(pruned);
  const lacking = wanted.flatMap(({ name, labels }) => {
    const key = Object.keys(pruned).find((each) => labels[each] !== pruned[each]);
    if (key === undefined) return [];
    return [`observer ${name}: ${Object.hasOwn(labels, key) ? `${key}=${labels[key]}` : `no ${key}`}`];
  });
  if (lacking.length === 0) return;
  const count = `${lacking.length} of ${wanted.length} observers`;
  throw new CliFailure("usage", `--prune would stop others: in the files, ${count} do not have ${selector}`, {
    details: lacking.slice(0, 20),
    remedy: "Correct --selector, or give each of them the label. Nothing was sent.",
  });
}

async function findSurplus(session: Session, wanted: CreateObserver[], labels: Labels): Promise<Selected> {
  const names = new Set(wanted.map(({ name }) => name));
  const status = LIVING_STATUSES.filter((each) => !isEnding({ status: each }));
  const { filter, observers } = await findSelected(session, { labels, status });
  return { filter, observers: observers.filter(({ name }) => !names.has(name)) };
}

/** An observer that is being stopped still exists for a while, but is no longer what a file wants. */
const isEnding = ({ status }: Pick<ObserverView, "status">): boolean => traitsOf(status).run === "ending";

/** Says which are as they should be. @returns the others that are there */
function tellSame({ io }: Session, all: CreateObserver[], existing: Map<string, ObserverView>): Differing[] {
  const differing: Differing[] = [];
  for (const wanted of all) {
    const observer = existing.get(wanted.name);
    if (observer === undefined) continue;
    const differences = differencesOf(observer, specOf(wanted));
    if (isEnding(observer) || differences.length > 0) differing.push({ wanted, observer, differences });
    else io.out(plainLine(`observer ${wanted.name} unchanged (${observer.status})`));
  }
  return differing;
}

function refuseUnchangeable(all: CreateObserver[], existing: Map<string, ObserverView>): void {
  const details = all.flatMap((wanted) => {
    const observer = existing.get(wanted.name);
    const why = observer === undefined ? [] : [...otherType(observer, wanted), ...otherStart(observer, wanted)];
    return why.map((each) => `observer ${wanted.name}: ${each}`);
  });
  if (details.length === 0) return;
  throw new CliFailure("failed", "The type of an observer, and the time when it starts, cannot be changed", {
    code: "cannot-be-changed",
    details,
    remedy: "Nothing was done. Stop it and apply again, or choose another name.",
  });
}

const otherType = (observer: ObserverView, wanted: CreateObserver): string[] =>
  observer.type === wanted.type ? [] : [`${observer.type}, not ${wanted.type}`];

/** The start time counts only until the observer has begun, and only if the document gives one. */
function otherStart({ status, startAt }: ObserverView, wanted: CreateObserver): string[] {
  if (status !== "Scheduled" || wanted.startAt === undefined) return [];
  return differencesAt(startAt, new Date(wanted.startAt).toISOString(), ["startAt"]).map(differenceText);
}

/** Tells what a dry run would do. Fails if there is anything to do. */
export async function tellPlan(
  { api, io }: Session,
  { missing, refusedAtRest, differing, surplus, schedules }: Plan,
): Promise<void> {
  for (const { name } of missing) io.out(plainLine(`observer ${name} would be created`));
  for (const [name, status] of refusedAtRest)
    io.out(plainLine(`observer ${name} would be refused: it would run, but the file says that it was ${status}`));
  for (const { wanted, observer, differences } of differing) {
    const what = isEnding(observer) ? "is being stopped, and would be refused until it is Deleted" : "would be changed";
    io.out(plainLines([`observer ${wanted.name} ${what}`, ...differenceLines(differences)]));
  }
  for (const { name } of surplus.observers) io.out(plainLine(`observer ${name} would be stopped: no file defines it`));
  let toDo = missing.length + refusedAtRest.length + differing.length + surplus.observers.length;
  for (const schedule of schedules) toDo += (await tellPlanned({ api, io }, schedule)) ? 1 : 0;
  if (toDo > 0) throw new CliFailure("differs", `${toDo} would be created, changed or stopped`);
}

/** Tells what a dry run would do to a schedule. @returns whether there is anything to do */
async function tellPlanned({ api, io }: Pick<Session, "api" | "io">, schedule: ScheduleDocument): Promise<boolean> {
  const { id, body } = schedule;
  const { times } = await previewOf(api, schedule, 1);
  const isOver = times.length === 0 && body.task !== undefined; // hours that cover all the week never change either
  const found = await api.call("getSchedule", { path: { scheduleId: id } }).catch(noneIf("schedule-not-found"));
  const differences = found === undefined ? [] : differencesOfSchedule(found, body);
  const isSame = found !== undefined && differences.length === 0;
  const what = isSame ? "unchanged" : `would be ${found === undefined ? "created" : "replaced"}`;
  io.out(plainLines([`schedule ${id} ${what}${isOver ? NO_TIMES : ""}`, ...differenceLines(differences)]));
  return !isSame;
}
