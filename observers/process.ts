import { defineObserver, isObserverStopped, type ObserverContext, restrictObserver } from "@unacked/sdk";
import { createBoundedEmitter } from "./process/bounded-emitter.ts";
import { startGuardedCommand } from "./process/guarded-command.ts";
import { failureOf } from "./process/process-failed.ts";
import { type ProcessParams, processParams } from "./process/process-params.ts";
import { readLines } from "./process/read-lines.ts";

const maxLineLength = 16_384;
const maxUnconfirmedLines = 64;
/** What an error quotes of stderr: the last lines, cut to a length that is still good to read. */
const stderrTailLines = 10;
const stderrTailLineLength = 500;
/** A command that complains faster waits: a flood costs its own command time, and not the process that it shares with others. */
const stderrPace = { lines: 200, everyMs: 100 };

/** No more than this of the service's environment reaches a command: the rest holds its passwords. */
const inheritedVariables = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/**
 * Runs a command for ever, in a process group of its own that never outlives the service: the way to write an observer in
 * any language. Offered where the service permits commands, and for these alone. The command finds `UNACKED_OBSERVER_ID`,
 * `UNACKED_OBSERVER_NAME` and `UNACKED_RUN_ID` in its environment.
 *
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
    run,
  });
});

async function run({ params, signal, log, emit, observer, runId }: ObserverContext<ProcessParams>): Promise<void> {
  if (signal.aborted) return;
  const { command, args, cwd, stopTimeoutMs, silenceTimeoutMs } = params;
  const env = {
    ...inheritedEnvironment(),
    UNACKED_OBSERVER_ID: observer.id,
    UNACKED_OBSERVER_NAME: observer.name,
    UNACKED_RUN_ID: runId,
    ...params.env,
  };
  const guarded = startGuardedCommand({ command, args, env, cwd, stopTimeoutMs, silenceTimeoutMs });
  const onAbort = () => {
    const leaseLost = isObserverStopped(signal.reason) && signal.reason.code === "lease-lost";
    if (leaseLost) guarded.kill();
    else guarded.stop();
  };
  signal.addEventListener("abort", onAbort, { once: true });

  const output = createBoundedEmitter(emit, maxUnconfirmedLines, signal);
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
    readLines(guarded.stdout, maxLineLength, (line) => output.send(line)),
    readLines(guarded.stderr, maxLineLength, onComplaint, { ...stderrPace, until }),
  ]);
  signal.removeEventListener("abort", onAbort);

  if (output.dropped() > 0) log.warn("lines printed after the stop were dropped", { lines: output.dropped() });
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
