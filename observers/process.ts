import type { Readable } from "node:stream";
import {
  type CheckpointContext,
  defineObserver,
  isObserverStopped,
  type ObserverContext,
  restrictObserver,
} from "@unacked/sdk";
import { z } from "zod";
import { createBoundedEmitter } from "./process/bounded-emitter.ts";
import { type CheckpointFile, createCheckpointFile } from "./process/checkpoint-file.ts";
import { startGuardedCommand } from "./process/guarded-command.ts";
import { failureOf } from "./process/process-failed.ts";
import { type ProcessParams, processParams } from "./process/process-params.ts";
import { type Reading, readLines } from "./process/read-lines.ts";

const maxLineLength = 16_384;
const maxUnconfirmedLines = 64;
/** What an error quotes of stderr: the last lines, cut to a length that is still good to read. */
const stderrTailLines = 10;
const stderrTailLineLength = 500;
/** A command that complains faster waits: a flood costs its own command time, and not the process that it shares with others. */
const stderrPace = { lines: 200, everyMs: 100 };

/** What the file of a command held. */
const ProcessCheckpoint = z.strictObject({ text: z.string() });

type Context = ObserverContext<ProcessParams> & CheckpointContext<z.output<typeof ProcessCheckpoint>>;
/** What has come out of the command so far. */
type Seen = Reading & { bytes: () => number; hasLost: () => boolean };

/** No more than this of the service's environment reaches a command: the rest holds its passwords. */
const inheritedVariables = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/**
 * Runs a command for ever, in a process group of its own that never outlives the service: the way to write an observer in
 * any language. Offered where the service permits commands, and for these alone. The command finds `UNACKED_OBSERVER_ID`,
 * `UNACKED_OBSERVER_NAME`, `UNACKED_RUN_ID`, the fencing token `UNACKED_EPOCH` and `UNACKED_CHECKPOINT_FILE` in its environment.
 *
 * - `UNACKED_CHECKPOINT_FILE` holds the text that was saved last, by whichever run; it is not there at first, and after a reset. The command
 *   saves by replacing it (write another one beside it, then rename). It is saved behind the lines that were printed before.
 * - Each line of its stdout is emitted as `{ line }` (`truncated: true` beside it when it was over 16,384 characters); it
 *   is slowed down when the broker does not keep up. Each line of stderr is logged as a warning, 2,000 a second at most:
 *   a command that prints more waits.
 * - Exit code 0 completes the observer; another one or a signal fails the run, with the last lines of stderr.
 * - A stop sends SIGTERM to the group, and SIGKILL after `stopTimeoutMs`. A lost lease sends SIGKILL at once: the observer
 *   may be starting elsewhere. The run has not ended before everybody in the group has.
 */
export default restrictObserver(({ commands, variables }) => {
  if (commands.length === 0) return { notOffered: "set ALLOW_PROCESS_OBSERVERS and PROCESS_COMMANDS to have it" };
  return defineObserver({
    type: "process",
    description: "Runs a command for ever and emits each line as it prints it: observers in any language.",
    params: processParams({ commands, variables }),
    checkpoint: ProcessCheckpoint,
    run,
  });
});

async function run(context: Context): Promise<void> {
  if (context.signal.aborted) return;
  const output: Seen = { isIdle: true, bytes: () => 0, hasLost: () => false };
  const file = checkpointFile(context, output);
  try {
    await runCommand(context, output, file);
  } finally {
    file?.remove();
  }
}

/** Where it cannot be had the command runs without one. */
function checkpointFile({ checkpoint, saveCheckpoint, log }: Context, output: Seen): CheckpointFile | undefined {
  const seen = { bytes: () => output.bytes(), isHandedOn: () => output.isIdle };
  try {
    // Behind a line that nobody was told nothing is saved any more: the next run has it printed again.
    const save = async (text: string): Promise<void> => {
      if (!output.hasLost()) await saveCheckpoint({ text });
    };
    return createCheckpointFile(checkpoint?.text, seen, save, (why) => log.warn(why));
  } catch (error) {
    log.warn("it cannot save where it has got to: there is no file for it", { error: String(error) });
    return undefined;
  }
}

async function runCommand(context: Context, seen: Seen, file: CheckpointFile | undefined): Promise<void> {
  const { params, signal, log, emit, observer, runId, epoch } = context;
  const { command, args, cwd, stopTimeoutMs, silenceTimeoutMs } = params;
  const env = {
    ...inheritedEnvironment(),
    UNACKED_OBSERVER_ID: observer.id,
    UNACKED_OBSERVER_NAME: observer.name,
    UNACKED_RUN_ID: runId,
    UNACKED_EPOCH: String(epoch),
    ...(file && { UNACKED_CHECKPOINT_FILE: file.path }),
    ...params.env,
  };
  const folder = file?.folder;
  const guarded = startGuardedCommand({ command, args, env, cwd, stopTimeoutMs, silenceTimeoutMs, folder });
  seen.bytes = () => (guarded.stdout as Readable & { bytesRead: number }).bytesRead;
  const onAbort = () => {
    const leaseLost = isObserverStopped(signal.reason) && signal.reason.code === "lease-lost";
    if (leaseLost) guarded.kill();
    else guarded.stop();
  };
  signal.addEventListener("abort", onAbort, { once: true });

  const output = createBoundedEmitter(emit, maxUnconfirmedLines, signal);
  seen.hasLost = output.hasLost;
  const stderrTail: string[] = [];
  const gone = new AbortController();
  void guarded.exited.then(() => gone.abort());
  const until = AbortSignal.any([signal, gone.signal]);
  const onComplaint = ({ line }: { line: string }): void => {
    log.warn(line, { from: "stderr" });
    stderrTail.push(printable(line.slice(0, stderrTailLineLength)));
    if (stderrTail.length > stderrTailLines) stderrTail.shift();
  };
  const [exit] = await Promise.all([
    guarded.exited,
    readLines(guarded.stdout, maxLineLength, (line) => output.send(line), undefined, seen),
    readLines(guarded.stderr, maxLineLength, onComplaint, { ...stderrPace, until }),
  ]);
  signal.removeEventListener("abort", onAbort);

  if (output.dropped() > 0) log.warn("lines printed after the stop were dropped", { lines: output.dropped() });
  else file?.finish();
  const failure = signal.aborted ? undefined : failureOf(exit, stderrTail);
  if (failure !== undefined) throw failure;
}

function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    inheritedVariables.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** An error's text ends up in databases and terminals; control characters have no business there. */
function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, "\u{FFFD}");
}
