import { type BodyOf, newUuid, ON_CONFLICT, type TaskView } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { usageFailure } from "../failure.ts";
import { parseAssignment, withAssignments } from "../input/assignments.ts";
import { parseDuration, parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { jsonText } from "../output/document-text.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { creating, repeatWith } from "./repeatable-create.ts";
import { untilCompleted } from "./task-end.ts";

type NewTask = BodyOf<"createTask">;

interface RunOptions {
  pool?: string;
  id?: string;
  priority?: string;
  startAt?: string | undefined;
  in?: string;
  maxAttempts?: string;
  key?: string;
  onConflict?: NewTask["onConflict"];
  wait?: boolean;
  timeout: string;
}

export function addRun(program: Command, io: Io): void {
  program
    .command("run")
    .summary("create a task: a job that ends")
    .description(
      "Create a task of a type, with its params. With --wait its result is printed when it is over, and the command fails if the task fails.",
    )
    .argument("<type>", "the task type")
    .argument("[params...]", "as url=https://example.org or size.width=320")
    .option("--pool <pool>", "the pool of services that may run it")
    .option("--id <uuid>", "an id of your own: makes the command safe to repeat")
    .option("--priority <number>", "-1000 to 1000, the higher goes first")
    .option("--start-at <time>", "do not start it before this time (ISO 8601)")
    .option(
      "--in <duration>",
      "instead of --start-at: how long from now, such as 90s, 2h or 7d, by the clock of this machine",
    )
    .option("--max-attempts <count>", "how often it is tried")
    .option("--key <key>", "a unique key: no other task of the type with the same key is created before this one is over")
    .addOption(new Option("--on-conflict <what>", "what happens to the other task that has the key").choices(ON_CONFLICT))
    .option("-w, --wait", "wait until it is over")
    .option("--timeout <duration>", "how long to wait at most", "5m")
    .action((type: string, params: string[], options: RunOptions, self: Command) =>
      run(openSession(io, self), toTask(type, params, { ...options, startAt: startOf(io, options) }), options),
    );
}

async function run(session: Session, body: NewTask & { id: string }, { wait, timeout }: RunOptions): Promise<void> {
  const timeoutMs = parseTimeout(timeout);
  const { api, io } = session;
  const about = `task of type ${body.type}`;
  const task = await creating(session, remedyOf(body), (signal) => api.call("createTask", { body }, { about, signal }));
  const how = task.outcome === "created" ? "" : ` (${task.outcome})`;
  const line = plainLine(`task ${task.id} is ${task.status}${how}`);
  if (task.waitsFor === "service") io.err(plainLine(await unserved(session, task)));
  if (wait !== true) return io.out(line);
  io.err(line); // the id is told before the wait, so that the task can be found however the wait ends
  const { output } = await untilCompleted(session, task, timeoutMs);
  io.out(`${jsonText(output, 2)}\n`);
}

/** A task with the same key may have taken the params, but not the id. If it has run since, a repeat queues the params for one more run. */
const remedyOf = ({ id, type, onConflict }: NewTask & { id: string }): string =>
  onConflict === "queue-latest" || onConflict === "replace"
    ? `It may have come through, and a repeat may run it once more, even with --id ${id}. See first how the task with this key stands: unacked get tasks --filter type=${type}`
    : repeatWith(id);

/** How long the pools are looked up at most: the id of the task is told after that. */
const LOOK_MS = 2_000;

/** The task is accepted, as a service may come; but pool or type may be mistyped, or the type's file not be loaded yet. */
async function unserved({ api }: Session, { id, type, pool }: TaskView): Promise<string> {
  const signal = AbortSignal.timeout(LOOK_MS);
  const services = await api.call("listServices", {}, { signal }).catch(() => undefined);
  const pools = new Set(services?.items.map((service) => service.pool));
  if (services !== undefined && !pools.has(pool)) {
    const others = pools.size === 0 ? ", nor in any other" : `; served are: ${[...pools].sort().join(", ")}`;
    return `No service works in the pool ${pool}${others}. The task waits for one. To take it back: unacked cancel ${id}`;
  }
  return `No living service of the pool ${pool} has the task type ${type}; the task waits for one. To see the types: unacked get task-types. To load a new file: unacked reload --pool ${pool}.`;
}

function startOf(io: Io, { startAt, in: duration }: RunOptions): string | undefined {
  if (duration === undefined) return startAt;
  if (startAt !== undefined) throw usageFailure("When? Give either --start-at or --in", "unacked run TYPE --in 90s");
  const atMs = io.nowMs() + parseDuration(duration);
  if (atMs <= LATEST_MS) return new Date(atMs).toISOString();
  throw usageFailure(`--in: "${duration}" is longer than a task may wait`, "It ends before the year 9999.");
}

/** The start of the year 9999: a later time is not ISO 8601 of four digits. */
const LATEST_MS = Date.UTC(9_999, 0);

/** The task always has an id, so that the call can be repeated when nobody answers. */
function toTask(type: string, params: string[], options: RunOptions): NewTask & { id: string } {
  const { pool, id = newUuid(), priority, startAt, maxAttempts, key, onConflict } = options;
  if (onConflict !== undefined && key === undefined)
    throw usageFailure("--on-conflict needs a --key", "Without a key there is no conflict.");
  const bare = {
    type,
    ...(pool !== undefined && { pool }),
    id,
    ...(priority !== undefined && { priority: toNumber("--priority", priority) }),
    ...(startAt !== undefined && { startAt }),
    ...(key !== undefined && { key }),
    ...(onConflict !== undefined && { onConflict }),
    ...(maxAttempts !== undefined && { maxAttempts: toNumber("--max-attempts", maxAttempts) }),
  };
  return withAssignments(
    bare,
    params.map((text) => parseAssignment(text, ["params"])),
  ) as NewTask & { id: string };
}

function toNumber(option: string, text: string): number {
  if (!/^-?\d{1,6}$/.test(text)) throw usageFailure(`${option}: "${text}" is not a whole number`);
  return Number(text);
}
