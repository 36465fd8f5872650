import type { BodyOf } from "@unacked/contracts";
import type { Command } from "commander";
import { usageFailure } from "../failure.ts";
import type { Io } from "../io.ts";
import { printOne } from "../output/list-printer.ts";
import { TASK_TYPE_LISTING } from "../output/task-listings.ts";
import { openSession, type Session } from "../session.ts";
import { type OutputOptions, outputOption } from "./option-sets.ts";

interface LimitOptions extends OutputOptions {
  maxRunning?: string;
  minRunning?: string;
  rate?: string;
  pause?: boolean;
  resume?: boolean;
  outside?: boolean;
  inside?: boolean;
}

export function addLimit(program: Command, io: Io): void {
  program
    .command("limit")
    .summary("change how many tasks of a type may run, or pause it")
    .description(
      "Change how many tasks of a type may run at once or be sent to workers in a second, or pause the type. What is not given stays as it is; `none` removes a limit. A change holds at once, in all pools; what runs goes on. To see the limits: unacked get task-types.",
    )
    .argument("<type>", "the task type")
    .option("--max-running <count>", "at most this many run at once, 1 or more; to start none: --pause")
    .option("--min-running <count>", "this many workers are kept for it, in each pool")
    .option("--rate <count>", "at most this many are sent to workers in a second, 1 or more")
    .option("--pause", "start none")
    .option("--resume", "start them again")
    .option("--outside", "its tasks may be created although no service has the type: workers outside take them")
    .option("--inside", "undo --outside: its tasks need a service that has the type again")
    .addOption(outputOption())
    .action((type: string, options: LimitOptions, self: Command) => limit(openSession(io, self), type, options));
}

async function limit({ api, io, print }: Session, taskType: string, options: LimitOptions): Promise<void> {
  const changed = await api.call("changeTaskType", { path: { taskType }, body: toChange(options) });
  io.out(printOne(TASK_TYPE_LISTING, changed, print(options.output)));
}

function toChange(options: LimitOptions): BodyOf<"changeTaskType"> {
  const { maxRunning, minRunning, rate, pause, resume, outside, inside } = options;
  if (pause === true && resume === true) throw usageFailure("--pause and --resume are opposites");
  if (outside === true && inside === true) throw usageFailure("--outside and --inside are opposites");
  const change = {
    ...(maxRunning !== undefined && { maxRunning: toLimitAboveZero("--max-running", maxRunning) }),
    ...(minRunning !== undefined && { minRunning: toLimit("--min-running", minRunning) ?? 0 }),
    ...(rate !== undefined && { ratePerSecond: toLimitAboveZero("--rate", rate) }),
    ...((pause === true || resume === true) && { paused: pause === true }),
    ...((outside === true || inside === true) && { outside: outside === true }),
  };
  if (Object.keys(change).length > 0) return change;
  throw usageFailure("What should be changed?", "unacked limit TYPE --max-running 7; or see: unacked get task-types");
}

function toLimit(option: string, text: string): number | null {
  if (text === "none") return null;
  if (!/^\d{1,6}$/.test(text)) throw usageFailure(`${option}: "${text}" is neither a number nor "none"`);
  return Number(text);
}

/** A limit that must be 1 or more. */
function toLimitAboveZero(option: string, text: string): number | null {
  const limit = toLimit(option, text);
  if (limit !== 0) return limit;
  throw usageFailure(`${option} is 1 or more, or none`, "To start none: unacked limit TYPE --pause");
}
