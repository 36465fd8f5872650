import { newUuid, type OccurrenceView, OVERLAPS, type ScheduleTimes } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { usageFailure } from "../failure.ts";
import type { Io } from "../io.ts";
import { ListPrinter } from "../output/list-printer.ts";
import type { Listing } from "../output/listing.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { eachAsked, eachOf } from "./each-of.ts";
import { addFileOptions, type FileOptions } from "./option-sets.ts";
import { previewOf } from "./put-schedules.ts";
import { readAll } from "./read-files.ts";
import { creating, repeatWith } from "./repeatable-create.ts";

export function addSchedule(program: Command, io: Io): void {
  const schedule = program
    .command("schedule")
    .summary("preview, run, pause, resume or backfill a schedule")
    .description(
      "Schedules are set with apply, listed with get schedules and removed with delete schedules; get occurrences shows what became of their times.",
    );
  addPreview(schedule, io);
  addOf(schedule, io);
  addBackfill(schedule, io);
}

interface PreviewOptions extends FileOptions {
  count: string;
}

function addPreview(schedule: Command, io: Io): void {
  const preview = schedule
    .command("preview")
    .description("show the next times of schedules: of existing ones, or of those that files define (nothing is changed)")
    .argument("[schedules...]", "their ids; none with -f")
    .option("-n, --count <count>", "how many times", "10");
  addFileOptions(preview).action((ids: string[], options: PreviewOptions, self: Command) =>
    showTimes(openSession(io, self), ids, options),
  );
}

async function showTimes(session: Session, ids: string[], options: PreviewOptions): Promise<void> {
  const { api, io, print } = session;
  if ((options.filename === undefined) === (ids.length === 0)) throw usageFailure("Give either ids or -f FILE");
  const n = Number(options.count);
  if (!Number.isInteger(n) || n < 1 || n > 1_000) throw usageFailure(`"${options.count}" is not a number from 1 to 1000`);
  const files = options.filename === undefined ? [] : readAll(io, options).schedules;
  if (options.filename !== undefined && files.length === 0)
    throw usageFailure(
      `There is no schedule in ${options.filename.join(", ")}`,
      "A document with the key `schedule` is one.",
    );
  const asked = [
    ...ids.map((id) => ({ id, times: () => api.call("nextTimes", { path: { scheduleId: id }, query: { n } }) })),
    ...files.map((file) => ({ id: file.id, times: () => previewOf(api, file, n) })),
  ];
  await eachAsked(session, asked, async ({ id, times }) => {
    const shown = await times();
    if (asked.length > 1) io.out(plainLine(id));
    const printer = new ListPrinter(TIME_LISTING, print("table"));
    io.out(printer.rows(shown.times) + printer.end());
  });
}

const TIME_LISTING: Listing<ScheduleTimes["times"][number]> = {
  nameOf: ({ at }) => at,
  columns: [
    { heading: "AT", cell: ({ at }) => at },
    { heading: "LOCAL", cell: ({ local }) => local },
    { heading: "DUE", cell: ({ dueAt }) => dueAt },
    { heading: "WANTED", cell: ({ wanted }) => wanted ?? "" },
  ],
};

interface RunOptions {
  overlap?: (typeof OVERLAPS)[number];
  id?: string;
}

function addOf(schedule: Command, io: Io): void {
  schedule
    .command("run")
    .description("run it now: one more occurrence, marked as manual")
    .argument("<schedule>", "its id")
    .addOption(new Option("--overlap <policy>", "overrides that of the schedule").choices([...OVERLAPS]))
    .option("--id <uuid>", "an id of your own: makes the command safe to repeat")
    .action(async (scheduleId: string, options: RunOptions, self: Command) => {
      const session = openSession(io, self);
      const { id = newUuid(), overlap } = options;
      const body = { id, ...(overlap !== undefined && { overlap }) };
      const made = await creating(session, repeatWith(id), (signal) =>
        session.api.call("runSchedule", { path: { scheduleId }, body }, { signal }),
      );
      io.out(plainLine(`schedule ${scheduleId}: ${occurrenceText(made)}`));
    });
  schedule
    .command("pause")
    .description("pause schedules: none of their times is due until they are resumed")
    .argument("<schedules...>", "their ids")
    .action(async (ids: string[], _options: object, self: Command) => {
      const session = openSession(io, self);
      await eachOf(session, ids, async (scheduleId) => {
        const { status } = await session.api.call("pauseSchedule", { path: { scheduleId } });
        return `schedule ${scheduleId} is ${status}`;
      });
    });
  schedule
    .command("resume")
    .description("resume schedules: their times are due again from now on")
    .argument("<schedules...>", "their ids")
    .action(async (ids: string[], _options: object, self: Command) => {
      const session = openSession(io, self);
      await eachOf(session, ids, async (scheduleId) => {
        const { status, nextAt } = await session.api.call("resumeSchedule", { path: { scheduleId } });
        return `schedule ${scheduleId} is ${status}${nextAt === null ? "" : `, next at ${nextAt}`}`;
      });
    });
}

const occurrenceText = ({ status, reason, taskId, at }: OccurrenceView): string =>
  `${status}${reason === null ? "" : ` (${reason})`} at ${at}${taskId === null ? "" : `, task ${taskId}`}`;

interface BackfillOptions {
  from: string;
  to: string;
  overlap?: "queue" | "allow";
  dryRun?: boolean;
}

function addBackfill(schedule: Command, io: Io): void {
  schedule
    .command("backfill")
    .description(
      "start the times of a period in the past, by its expression as it is now; times that have started already are left alone",
    )
    .argument("<schedule>", "its id")
    .requiredOption("--from <time>", "ISO 8601; this time is included")
    .requiredOption("--to <time>", "ISO 8601; this time is not included")
    .addOption(new Option("--overlap <policy>", "one after the other, or side by side").choices(["queue", "allow"]))
    .option("--dry-run", "only say how many")
    .action(async (scheduleId: string, { dryRun = false, ...window }: BackfillOptions, self: Command) => {
      const { api } = openSession(io, self);
      const told = await api.call("backfillSchedule", { path: { scheduleId }, body: { ...window, dryRun } });
      const by = told.cron === null ? `every ${told.everyMs} ms` : `${told.cron} ${told.timeZone}`;
      const verb = dryRun ? "would start" : "started";
      io.out(
        plainLine(
          `schedule ${scheduleId}, by ${by} (version ${told.version}): ${told.times} times, ${told.started} ${verb}, ${told.queued} queued, ${told.skipped} skipped, ${told.alreadyStarted} had started`,
        ),
      );
    });
}
