import { defineObserver, restrictObserver } from "@unacked/sdk";
import { ProcessCheckpoint, type ProcessContext } from "./process/process-context.ts";
import { processParams } from "./process/process-params.ts";
import { runLines } from "./process/run-lines.ts";
import { runWorker } from "./process/run-worker.ts";

/**
 * Runs a command for ever, in a process group of its own that never outlives the service: the way to write an observer in
 * any language. Offered where the service permits commands, and for these alone. The command finds `UNACKED_OBSERVER_ID`,
 * `UNACKED_OBSERVER_NAME`, `UNACKED_RUN_ID`, the fencing token `UNACKED_FENCING_TOKEN` and `UNACKED_CHECKPOINT_FILE` in its environment.
 *
 * With the protocol "lines", the default:
 *
 * - Each line of its stdout is emitted as `{ line }` (`truncated: true` beside it when it was over 16,384 characters); it
 *   is slowed down when the broker does not keep up.
 * - `UNACKED_CHECKPOINT_FILE` holds the text that was saved last, by whichever run; it is not there at first, and after a reset. The command
 *   saves by replacing it (write another one beside it, then rename). It is saved behind the lines that were printed before.
 *
 * With "json-lines" it is told and says what docs/ways-in.md has, in lines of its stdin and stdout. With both:
 *
 * - Each line of stderr is logged as a warning, 2,000 a second at most: a command that prints more waits.
 * - Exit code 0 completes the observer; another one or a signal fails the run, with the last lines of stderr.
 * - A stop sends SIGTERM to the group (a worker is told before), and SIGKILL after `stopTimeoutMs`. A lost lease sends SIGKILL at once: the observer
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

async function run(context: ProcessContext): Promise<void> {
  if (context.signal.aborted) return;
  await (context.params.protocol === "json-lines" ? runWorker(context) : runLines(context));
}
