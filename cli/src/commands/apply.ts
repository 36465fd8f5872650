import { type CreateObserver, LIVING_STATUSES, type ObserverView, traitsOf } from "@unacked/contracts";
import type { Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { parseFilters } from "../input/filters.ts";
import { type Difference, differencesOf } from "../input/observer-difference.ts";
import type { ScheduleDocument } from "../input/schedule-documents.ts";
import type { Io } from "../io.ts";
import { plainText } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { changeMany } from "./bulk.ts";
import { createAll } from "./creation.ts";
import { inParallel } from "./in-parallel.ts";
import { addFileOptions, type FileOptions, repeatable } from "./option-sets.ts";
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
    .summary("create what files define and is not there")
    .description(
      "Create what is missing, leave what is the same, and say what differs (exit code 6): an observer's definition does not change while it lives. A document with the key `schedule` is a schedule, by that id: it is created, or replaced where it differs.",
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
  const { observers, schedules } = readAll(session.io, options);
  const wanted = observers.map((each) => (options.queue === true ? { ...each, whenFull: "queue" as const } : each));
  const existing = await findExisting(session, wanted);
  const surplus = options.prune === true ? await findSurplus(session, wanted, options.selector ?? []) : [];
  const missing = wanted.filter(({ name }) => !existing.has(name));
  const differing = tellExisting(session, wanted, existing);
  await createMissing(session, missing, options);
  await stopSurplus(session, surplus, options);
  await putSchedules(session, schedules, options);
  if (differing > 0) {
    throw new CliFailure("differs", `${differing} of ${wanted.length} are not as the files have them, and were left alone`, {
      remedy: "To change one, stop it and apply again.",
    });
  }
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
  const status = LIVING_STATUSES.filter((each) => traitsOf(each).run !== "ending");
  for await (const page of api.observerPages({ ...parseFilters([], selectors), status }))
    surplus.push(...page.filter(({ name }) => !names.has(name)));
  return surplus;
}

/** How many differ. */
function tellExisting({ io }: Session, wanted: CreateObserver[], existing: Map<string, ObserverView>): number {
  let differing = 0;
  for (const each of wanted) {
    const observer = existing.get(each.name);
    if (observer === undefined) continue;
    const differences = differencesOf(observer, each);
    if (differences.length > 0) differing += 1;
    io.out(`observer ${each.name} ${differences.length === 0 ? "unchanged" : "differs"} (${observer.status})\n`);
    for (const difference of differences) io.out(`  ${differenceText(difference)}\n`);
  }
  return differing;
}

function differenceText({ path, runs, wanted }: Difference): string {
  const written = (value: unknown) => (value === undefined ? "nothing" : plainText(JSON.stringify(value)));
  return `${plainText(path)}: ${written(runs)} runs, ${written(wanted)} is in the file`;
}

async function createMissing(session: Session, missing: CreateObserver[], { dryRun }: ApplyOptions): Promise<void> {
  if (dryRun === true) for (const { name } of missing) session.io.out(`observer ${name} would be created\n`);
  if (dryRun === true || missing.length === 0) return;
  const results = new Results(session, { format: "lines", asked: missing.length });
  await createAll(session, missing, (outcome) => results.tell(outcome, "created"));
  results.end();
}

/** A schedule is replaced where it differs: what it does from then on. */
async function putSchedules({ api, io }: Session, schedules: ScheduleDocument[], { dryRun }: ApplyOptions): Promise<void> {
  for (const { id, body } of schedules) {
    if (dryRun === true) {
      await api.previewSchedule(id, body, 1);
      io.out(`schedule ${id} would be set\n`);
    } else {
      const { outcome, nextAt } = await api.putSchedule(id, body);
      const next = nextAt === null ? "" : `, next at ${nextAt}`;
      io.out(`schedule ${id} ${outcome === "exists" ? "unchanged" : outcome}${next}\n`);
    }
  }
}

async function stopSurplus(session: Session, surplus: ObserverView[], { dryRun }: ApplyOptions): Promise<void> {
  if (surplus.length === 0) return;
  const change = { ...stopping(session, false), done: "is being stopped, as no file defines it" };
  await changeMany(session, { refs: surplus.map(({ id }) => id) }, change, { dryRun, output: "lines" });
}
