import type { Readable } from "node:stream";
import { isObserverStopped, untilAborted } from "@unacked/sdk";
import { createBoundedEmitter } from "./bounded-emitter.ts";
import { type CheckpointFile, createCheckpointFile } from "./checkpoint-file.ts";
import { environmentOf } from "./command-environment.ts";
import { readComplaints } from "./complaints.ts";
import { startGuardedCommand } from "./guarded-command.ts";
import type { ProcessContext } from "./process-context.ts";
import { failureOf } from "./process-failed.ts";
import { type Reading, readLines } from "./read-lines.ts";
import { stopTimeOf } from "./stop-time.ts";

const maxLineLength = 16_384;
const maxUnconfirmedLines = 64;

/** What has come out of the command so far. */
type Seen = Reading & { bytes: () => number; hasLost: () => boolean };

/** The protocol "lines": each line that the command prints is an event, and a file holds what it saves. */
export async function runLines(context: ProcessContext): Promise<void> {
  const output: Seen = { isIdle: true, bytes: () => 0, hasLost: () => false };
  const file = checkpointFile(context, output);
  try {
    await runCommand(context, output, file);
  } finally {
    file?.remove();
  }
}

/** Where it cannot be had the command runs without one. */
function checkpointFile({ checkpoint, saveCheckpoint, log }: ProcessContext, output: Seen): CheckpointFile | undefined {
  const seen = { bytes: () => output.bytes(), isHandedOn: () => output.isIdle };
  const before = checkpoint !== undefined && "text" in checkpoint ? checkpoint.text : undefined;
  try {
    // Behind a line that nobody was told nothing is saved any more: the next run has it printed again.
    const save = async (text: string): Promise<void> => {
      if (!output.hasLost()) await saveCheckpoint({ text });
    };
    return createCheckpointFile(before, seen, save, (why) => log.warn(why));
  } catch (error) {
    log.warn("it cannot save where it has got to: there is no file for it", { error: String(error) });
    return undefined;
  }
}

async function runCommand(context: ProcessContext, seen: Seen, file: CheckpointFile | undefined): Promise<void> {
  const { params, signal, log, emit } = context;
  const { command, args, cwd, silenceTimeoutMs } = params;
  const env = environmentOf(context, file?.path);
  const times = { stopTimeoutMs: stopTimeOf(context), silenceTimeoutMs };
  const guarded = startGuardedCommand({ command, args, env, cwd, ...times, folder: file?.folder, hasInput: false });
  seen.bytes = () => (guarded.stdout as Readable & { bytesRead: number }).bytesRead;
  const onAbort = () => {
    const leaseLost = isObserverStopped(signal.reason) && signal.reason.code === "lease-lost";
    if (leaseLost) guarded.kill();
    else guarded.stop();
  };
  signal.addEventListener("abort", onAbort, { once: true });

  const output = createBoundedEmitter(emit, maxUnconfirmedLines, signal);
  seen.hasLost = output.hasLost;
  const gone = new AbortController();
  void guarded.exited.then(() => gone.abort());
  const [exit, , stderrTail] = await Promise.all([
    guarded.exited,
    readLines(guarded.stdout, maxLineLength, (line) => output.send(line), { reading: seen }),
    readComplaints(guarded, log, AbortSignal.any([signal, gone.signal])),
  ]);
  signal.removeEventListener("abort", onAbort);

  // The run is over when all that it has printed is published, or refused.
  await Promise.race([output.settled(), untilAborted(signal)]);
  if (output.dropped() > 0) log.warn("lines printed after the stop were dropped", { lines: output.dropped() });
  else file?.finish();
  const failure = signal.aborted ? undefined : failureOf(exit, stderrTail);
  if (failure !== undefined) throw failure;
}
