import type { BodyOf, TaskBulkCount } from "@unacked/contracts";
import type { Command } from "commander";
import type { UnackedApi } from "../client/api.ts";
import { CliFailure, usageFailure } from "../failure.ts";
import { parseAssignment, withAssignments } from "../input/assignments.ts";
import { RERUN_FILTER_KEYS, TASK_CHANGE_FILTER_KEYS } from "../input/filters.ts";
import type { Io } from "../io.ts";
import { jsonText } from "../output/document-text.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import { type AlikeTasks, type TaskTarget, type TaskTargetOptions, toAlikeTasks, toTaskTarget } from "./task-target.ts";

interface Change {
  name: string;
  summary: string;
  done: string;
  /** What happens if more tasks match than one call does. */
  ofMany: string;
  /** The help of --all: which tasks it means. */
  all: string;
  /** The keys of its filter. */
  keys: readonly string[];
  /** A hint for when nothing matches. */
  ofNone?(target: TaskTarget | AlikeTasks): string | undefined;
  /**
   * Whether to go on until none match. Changed tasks then no longer match; of tasks that are run again, some may fail again at
   * once.
   */
  goesOn: boolean;
  target(ids: string[], options: TaskTargetOptions): TaskTarget | AlikeTasks;
  send(api: UnackedApi, target: TaskTarget | AlikeTasks, dryRun: boolean): Promise<TaskBulkCount>;
}

const ABOUT = { about: "tasks" };

/** Adds `cancel` and `rerun`. */
export function addChangeTasks(program: Command, io: Io): void {
  add(program, io, {
    name: "cancel",
    summary: "cancel tasks, by ids or all that match",
    done: "cancelled, or told to end",
    all: "every task that is not over",
    ofMany: "If more than 10,000 match, it does 10,000 at a time until all are done.",
    goesOn: true,
    keys: TASK_CHANGE_FILTER_KEYS,
    target: toTaskTarget,
    send: (api, target, dryRun) => api.call("cancelTasks", { body: { ...target, dryRun } as BodyOf<"cancelTasks"> }, ABOUT),
  });
  add(program, io, {
    name: "rerun",
    summary: "run Failed or Cancelled tasks again, by ids or all that match",
    done: "run again",
    all: "every task that is Failed",
    ofNone: (target) => {
      if ("alike" in target)
        return "None that is Failed with this type and error may run again: see unacked get task-failures. Those of a flow do with it: unacked flow rerun.";
      return saysStatus(target) ? undefined : ONLY_FAILED;
    },
    ofMany:
      "--filter and --all mean those that are Failed, unless a status is given. At most 10,000 at a time: it fails when more match; repeat it for the next.",
    goesOn: false,
    keys: RERUN_FILTER_KEYS,
    target: (ids, options) => toAlikeTasks(ids, options) ?? toTaskTarget(ids, options),
    send: (api, target, dryRun) =>
      "alike" in target
        ? api.call("retryTaskFailures", { body: { ...target.alike, dryRun } }, ABOUT)
        : api.call("retryTasks", { body: { ...target, dryRun } as BodyOf<"retryTasks"> }, ABOUT),
  });
}

/** Adds `rerun-with`: it runs one Failed or Cancelled task again with some params changed. */
export function addRetryWith(program: Command, io: Io): void {
  program
    .command("rerun-with")
    .summary("run a Failed or Cancelled task again, with other params")
    .description(
      "Run a Failed or Cancelled task again with other params. Params that are not named stay as they are. The type checks them.",
    )
    .argument("<id>", "id of the task")
    .argument("<params...>", "as url=https://example.org or size.width=320")
    .action(async (taskId: string, params: string[], _options: object, self: Command) => {
      const { api } = openSession(io, self);
      const before = { params: (await api.call("getTask", { path: { taskId } })).params };
      const after = withAssignments(
        before,
        params.map((text) => parseAssignment(text, ["params"])),
      ) as BodyOf<"retryTaskWith">;
      const { status } = await api.call("retryTaskWith", { path: { taskId }, body: after });
      io.out(plainLine(`task ${taskId} is ${status}, with params ${jsonText(after.params)}`));
    });
}

/** Adds `take-back`. */
export function addTakeBack(program: Command, io: Io): void {
  program
    .command("take-back")
    .summary("take a task back from a worker outside that is dead")
    .description(
      "Take a task back from a worker outside that is dead, as if its lease were over: another has it then; the third time it is Failed. See first who has it: unacked describe task ID.",
    )
    .argument("<id>", "id of the task")
    .action(async (taskId: string, _options: object, self: Command) => {
      const { api } = openSession(io, self);
      const { status, taken } = await api.call("takeBackTask", { path: { taskId } });
      io.out(plainLine(`task ${taskId} is ${status}, taken back${taken === null ? "" : ` from ${taken.by}`}`));
    });
}

export function addPriority(program: Command, io: Io): void {
  program
    .command("priority")
    .summary("change how urgent a task is")
    .description("Change how urgent a task is. If it waits, it takes its new place at once, before all that is less urgent.")
    .argument("<id>", "id of the task")
    .argument("<priority>", "-1000 to 1000, the higher goes first; write a negative one after --")
    .action(async (taskId: string, text: string, _options: object, self: Command) => {
      const priority = Number(text);
      if (!/^-?\d+$/.test(text))
        throw usageFailure(`"${text}" is not a priority`, "It is a whole number from -1000 to 1000.");
      const { api } = openSession(io, self);
      const { status } = await api.call("changeTask", { path: { taskId }, body: { priority } });
      io.out(plainLine(`task ${taskId} (${status}) has priority ${priority}`));
    });
}

function add(program: Command, io: Io, change: Change): void {
  const { name, summary, all, ofMany, ofNone, keys } = change;
  program
    .command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}. ${ofMany}`)
    .argument("[ids...]", "ids of tasks")
    .option("--filter <filter...>", keys.map((key) => `${key}=`).join(", "))
    .option("--all", all)
    .option("--dry-run", "only say how many")
    .action(async (ids: string[], options: TaskTargetOptions & { dryRun?: boolean }, self: Command) => {
      const dryRun = options.dryRun === true;
      const target = change.target(ids, options);
      const session = openSession(io, self);
      const count = await changeAll(session, change, { target, dryRun });
      const asked = Math.max(count.matched, new Set(ids).size);
      const how = dryRun ? `would be ${change.done}` : change.done;
      io.out(plainLine(`${count.accepted} of ${asked} tasks: ${how}${count.more ? "; more match" : ""}`));
      const hint = count.matched === 0 ? ofNone?.(target) : undefined;
      if (hint !== undefined) io.err(plainLine(hint));
      if (dryRun) return;
      if (count.accepted < asked) throw await leftAsTheyAre(session, asked - count.accepted, { asked, ids });
      if (count.more)
        throw new CliFailure("failed", "More tasks match than one call does", { remedy: "Repeat it for the next." });
    });
}

const ONLY_FAILED = "Without a status only those that are Failed are run again: --filter status=Cancelled means the others.";

/** Ids mean their tasks whatever their status is. */
const saysStatus = (target: TaskTarget): boolean =>
  "ids" in target || ("filter" in target && target.filter.status !== undefined);

/** Makes as many calls as it takes, and reports progress meanwhile, so that whoever interrupts it knows what was done. */
async function changeAll(
  { api, io }: Session,
  { done, goesOn, send }: Change,
  { target, dryRun }: { target: TaskTarget | AlikeTasks; dryRun: boolean },
): Promise<TaskBulkCount> {
  const all = { matched: 0, accepted: 0 };
  for (;;) {
    const { matched, accepted, more } = await send(api, target, dryRun);
    all.matched += matched;
    all.accepted += accepted;
    if (dryRun || !goesOn || !more || accepted === 0) return { ...all, more };
    io.err(plainLine(`${all.accepted} tasks: ${done}; more match`));
  }
}

/** Says of the ones that were named how each stands now; of a selection there is only the count. */
async function leftAsTheyAre(
  { api }: Session,
  count: number,
  { asked, ids }: { asked: number; ids: string[] },
): Promise<CliFailure> {
  const what = `${count} of ${asked} were left as they are`;
  if (ids.length === 0) return new CliFailure("failed", `${what}: not known, or it cannot be done to them`);
  const details = new Map<string, string>();
  await inParallel([...new Set(ids)], async (taskId) => {
    const how = await api.call("getTask", { path: { taskId } }).then(
      ({ status }) => `task ${taskId} is ${status}`,
      (error: Error) => error.message, // the failure below is worth more than that of this look
    );
    details.set(taskId, how);
  });
  const inOrder = [...new Set(ids)].map((id) => details.get(id) ?? id);
  return new CliFailure("failed", `${what}. They stand so now:`, { details: inOrder });
}
