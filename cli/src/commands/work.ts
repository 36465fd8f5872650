import { type BodyOf, newUuid, WORK_ACTS, type WorkAct, type WorkView } from "@unacked/contracts";
import { Argument, type Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { toCount } from "../input/count.ts";
import { parseFilters } from "../input/filters.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { addSelectionOptions, type SelectionOptions } from "./option-sets.ts";
import { creating, repeatWith } from "./repeatable-create.ts";
import { untilOver } from "./until-over.ts";

interface BeginOptions extends SelectionOptions {
  all?: boolean;
  force?: boolean;
  queue?: boolean;
  id?: string;
  wait?: boolean;
}

/** Adds `work`: bulk changes of very many observers, which the managers do step by step. */
export function addWork(program: Command, io: Io): void {
  const work = program
    .command("work")
    .summary("stop, restart, pause or resume very many observers, step by step")
    .description(
      "Change all observers that match, however many. The managers do it step by step, also after the command has ended; anybody may see how far it is, and cancel the rest.",
    );
  addSelectionOptions(
    work
      .command("begin")
      .summary("begin to stop, restart, pause or resume all that match")
      .addArgument(new Argument("<act>").choices(WORK_ACTS)),
  )
    .option("--all", "every observer that is not Deleted")
    .option("--force", "for stop: also those that have not started yet, or for which no service answers")
    .option("--queue", "for resume: wait in the queue when no worker is free")
    .option("--id <uuid>", "an id of your own: makes the command safe to repeat")
    .option("-w, --wait", "wait until it is over")
    .action((act: WorkAct, options: BeginOptions, self: Command) => begin(openSession(io, self), act, options));
  work
    .command("list")
    .summary("list what was begun, newest first")
    .option("--limit <count>", "at most this many", toCount, 20)
    .action(async ({ limit }: { limit: number }, self: Command) => {
      const { items } = await openSession(io, self).api.call("listWork", { query: { limit } });
      for (const each of items) io.out(plainLine(`${each.id}  ${each.begunAt}  ${each.begunBy.name}  ${lineOf(each)}`));
    });
  work
    .command("show")
    .summary("show how far it is")
    .argument("<id>", "its id")
    .option("-w, --wait", "wait until it is over")
    .action(async (workId: string, { wait }: { wait?: boolean }, self: Command) => {
      const session = openSession(io, self);
      const work = await session.api.call("getWork", { path: { workId } });
      if (wait === true) await tellEnd(session, await untilDone(session, work));
      else await tell(session, work);
    });
  work
    .command("cancel")
    .summary("cancel the rest; what was done stays")
    .argument("<id>", "its id")
    .action(async (workId: string, _options: object, self: Command) => {
      const session = openSession(io, self);
      const { leftAlone, done } = await session.api.call("cancelWork", { path: { workId } });
      io.out(plainLine(`work ${workId} is Cancelled: ${done} done, ${leftAlone} left alone`));
    });
}

async function begin(session: Session, act: WorkAct, options: BeginOptions): Promise<void> {
  const filter = parseFilters(options.filter, options.selector);
  if ((filter === undefined) !== (options.all === true))
    throw usageFailure("Select observers by --filter or --selector, or say --all", "Use exactly one of these.");
  const { id = newUuid() } = options;
  const body = {
    act,
    ...(filter === undefined ? { all: true } : { filter }),
    force: options.force === true,
    whenFull: options.queue === true ? "queue" : "reject",
    id,
  };
  const work = await creating(session, repeatWith(id), (signal) =>
    session.api.call("beginWork", { body: body as BodyOf<"beginWork"> }, { signal }),
  );
  session.io.out(plainLine(`work ${work.id} begun: ${act} ${work.total} observers`));
  if (options.wait === true) await tellEnd(session, await untilDone(session, work));
}

/** Says meanwhile why no step is done, each reason once. */
function untilDone(session: Session, work: WorkView): Promise<WorkView> {
  let told: string | null = null;
  const look = async (_wait: string, signal: AbortSignal): Promise<WorkView> => {
    const now = await session.api.call("getWork", { path: { workId: work.id } }, { signal });
    if (now.waitsFor !== null && now.waitsFor !== told) session.io.err(plainLine(`work ${now.id} waits: ${now.waitsFor}`));
    told = now.waitsFor;
    return now;
  };
  return untilOver(session, work, {
    look,
    isOver: ({ status }) => status !== "Running",
    unfinished: (last) => ({
      message: `work ${last.id}: ${lineOf(last)}`,
      remedy: `It goes on. See: unacked work show ${last.id}; to end it: unacked work cancel ${last.id}`,
    }),
  });
}

async function tell({ io }: Session, work: WorkView): Promise<void> {
  io.out(plainLine(lineOf(work)));
  if (work.waitsFor !== null) io.out(plainLine(`  waits: ${work.waitsFor}`));
  for (const { code, count, names, remedy } of work.refused)
    io.out(plainLine(`  ${count} ${code}: ${names.join(", ")}${count > names.length ? " …" : ""}. ${remedy}`));
  if (work.status === "Done" && work.failed > 0)
    throw new CliFailure("failed", `${work.failed} of ${work.total} were refused`);
}

/** A script that goes on after it relies on all being done. */
async function tellEnd(session: Session, work: WorkView): Promise<void> {
  await tell(session, work);
  if (work.status === "Cancelled")
    throw new CliFailure(
      "failed",
      `work ${work.id} was cancelled by ${work.cancelledBy}: ${work.done} of ${work.total} done`,
    );
}

const lineOf = ({ act, status, total, done, failed, remaining, leftAlone, msLeft }: WorkView): string =>
  `${act} ${status}: ${done} of ${total} done, ${failed} refused, ${
    status === "Running"
      ? `${remaining} remaining${msLeft === null ? "" : `, about ${Math.ceil(msLeft / 1_000)} s`}`
      : `${leftAlone} left alone`
  }`;
