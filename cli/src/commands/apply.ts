import { type CreateObserver, type ObserverView, traitsOf } from "@unacked/contracts";
import type { Command } from "commander";
import { asRefusal, CliFailure, usageFailure } from "../failure.ts";
import { refuseAtRest } from "../input/observer-documents.ts";
import type { Io } from "../io.ts";
import { differenceLines } from "../output/difference-text.ts";
import { plainLine } from "../output/plain-text.ts";
import { failureText } from "../report.ts";
import { openSession, type Session } from "../session.ts";
import { type Differing, makePlan, type PlanOptions, tellPlan } from "./apply-plan.ts";
import { changeMany } from "./bulk.ts";
import { createAll } from "./creation.ts";
import { inParallel } from "./in-parallel.ts";
import { addFileOptions, repeatable } from "./option-sets.ts";
import { putSchedules } from "./put-schedules.ts";
import { Results } from "./results.ts";
import type { Selected } from "./selected.ts";
import { stopping } from "./stop.ts";

interface ApplyOptions extends PlanOptions {
  dryRun?: boolean;
}

export function addApply(program: Command, io: Io): void {
  const command = program
    .command("apply")
    .summary("make the observers what the files define")
    .description(
      "Create what is missing, change what differs, and leave what is the same. A changed observer keeps its id and history. Its run is stopped and started again, unless only labels or limits of silence differ, or its type takes new params while it runs. With --dry-run nothing is done; the exit code is 6 if something would be done. A document with the key `schedule` is a schedule with that id: it is created, or replaced where it differs.",
    );
  addFileOptions(command)
    .option("--prune", "stop observers with the label of --selector that the files do not define")
    .addOption(repeatable("-l, --selector <key=value>", "with --prune: the label that all observers of these files have"))
    .option("--dry-run", "only say what would be done")
    .option("--queue", "when no worker is free: wait in the queue instead of being refused")
    .action((options: ApplyOptions, self: Command) => apply(openSession(io, self), options));
}

/**
 * Receives documents. Guarantees: nothing changes before every document has been read, checked and compared, and nothing is
 * created twice, as the name decides. A crash in the middle leaves some created: apply again.
 */
async function apply(session: Session, options: ApplyOptions): Promise<void> {
  if (options.filename === undefined) throw usageFailure("Which files?", "unacked apply -f FILE");
  if ((options.prune === true) !== (options.selector !== undefined)) {
    throw usageFailure(
      "--prune and --selector go together",
      "Without a label it is not known which observers belong to the files.",
    );
  }
  const plan = await makePlan(session, options);
  if (options.dryRun === true) return tellPlan(session, plan);
  const { missing, refusedAtRest, differing, surplus, schedules } = plan;
  const refused = refusedAtRest.length === 0 ? [] : [refuseAtRest(refusedAtRest)];
  const attempt = (part: Promise<void>) => part.catch((error: unknown) => void refused.push(asRefusal(error)));
  await attempt(createMissing(session, missing));
  await attempt(changeDiffering(session, differing));
  await attempt(putSchedules(session, schedules));
  if (refused.length === 0) return stopSurplus(session, surplus);
  tellAllButLast(session, refused, surplus.observers.length);
}

/** A refusal in one part does not hold up the others. But then nothing is stopped, as its replacement may not have come. */
function tellAllButLast({ io }: Session, refused: CliFailure[], notStopped: number): void {
  for (const failure of refused.slice(0, -1)) io.err(failureText(failure));
  if (notStopped > 0)
    io.err(plainLine(`Nothing was stopped, because not all could be applied: ${notStopped} that no file defines.`));
  throw refused.at(-1);
}

/**
 * Observers that somebody else has created meanwhile, such as another apply of the same files, are compared with what is wanted once more.
 */
async function createMissing(session: Session, missing: CreateObserver[]): Promise<void> {
  if (missing.length === 0) return;
  const results = new Results(session, { format: "lines", asked: missing.length });
  const taken: CreateObserver[] = [];
  try {
    await createAll(session, missing, (outcome, wanted) => {
      if (outcome instanceof CliFailure && outcome.code === "name-taken") taken.push(wanted);
      else results.tell(outcome, "created");
    });
  } finally {
    await inParallel(taken, (wanted) => put(session, results, { wanted, differences: [] }));
  }
  await results.end();
}

async function changeDiffering(session: Session, differing: Differing[]): Promise<void> {
  if (differing.length === 0) return;
  const results = new Results(session, { format: "lines", asked: differing.length });
  await inParallel(differing, (each) => put(session, results, each));
  await results.end();
}

/** The manager compares once more, as somebody else may have been faster. */
async function put(
  { api }: Session,
  results: Results,
  { wanted, differences }: Pick<Differing, "wanted" | "differences">,
): Promise<void> {
  const { name, id: _chosen, ...body } = wanted; // an id of the caller's own counts only when an observer is created
  const outcome = await api.call("putObserver", { path: { ref: name }, body }).catch(asRefusal);
  if (outcome instanceof CliFailure) return results.tell(outcome, "");
  const below = outcome.outcome === "changed" ? differenceLines(differences) : [];
  results.tell(outcome, `${outcome.outcome}${standingText(outcome)}`, below);
}

/** An observer that does not run takes the change, and has it when it runs again. */
const standingText = ({ status }: ObserverView): string =>
  traitsOf(status).run === "none" || traitsOf(status).run === "on-hold" ? ` (${status}: it is so when it runs again)` : "";

/** An observer whose label was removed meanwhile no longer belongs to the files, and stays. */
async function stopSurplus(session: Session, surplus: Selected): Promise<void> {
  if (surplus.observers.length === 0) return;
  const change = { ...stopping(session, false), done: "is being stopped: no file defines it" };
  await changeMany(session, surplus, change, { dryRun: false, output: "lines" });
}
