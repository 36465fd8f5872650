import { defineObserver, isObserverStopped } from "@unacked/sdk";
import { z } from "zod";
import { createBoundedEmitter } from "./process/bounded-emitter.ts";
import { startGuardedCommand } from "./process/guarded-command.ts";
import { failureOf } from "./process/process-failed.ts";
import { readLines } from "./process/read-lines.ts";

const maxLineLength = 16_384;
const maxUnconfirmedLines = 64;
/** What an error quotes of stderr: the last lines, cut to a length that is still good to read. */
const stderrTailLines = 10;
const stderrTailLineLength = 500;

/** No more than this of the service's environment reaches a command: the rest holds its passwords. */
const inheritedVariables = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"];

const text = (maxLength: number) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the operating system's texts end at a NUL
  z
    .string()
    .max(maxLength)
    .regex(/^[^\x00]*$/, "must not hold a NUL character");

/**
 * Runs a command for ever, in a process group of its own that never outlives the service: the way to write an observer in
 * any language. The command finds `UNACKED_OBSERVER_ID`, `UNACKED_OBSERVER_NAME` and `UNACKED_RUN_ID` in its environment.
 *
 * - Each line of its stdout is emitted as `{ line }` (`truncated: true` beside it when it was over 16,384 characters); it
 *   is slowed down when the broker does not keep up. Each line of stderr is logged as a warning.
 * - Exit code 0 completes the observer; another one or a signal fails the run, with the last lines of stderr.
 * - A stop sends SIGTERM to the group, and SIGKILL after `stopTimeoutMs`. A lost lease sends SIGKILL at once: the observer
 *   may be starting elsewhere. The run has not ended before everybody in the group has.
 */
export default defineObserver({
  type: "process",
  description: "Runs a command for ever and emits what it prints, line by line: observers in any language.",
  params: z.strictObject({
    command: text(4_096)
      .min(1)
      .describe("The program: a path, or a name that is found by PATH. It is not given to a shell."),
    args: z.array(text(65_536)).max(1_000).default([]).describe("Its arguments, one by one."),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), text(65_536))
      .default({})
      .describe("Environment variables, beside PATH, HOME, LANG and TZ of the service."),
    cwd: text(4_096).min(1).optional().describe("Working directory; the service's own if left out."),
    stopTimeoutMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(5_000)
      .describe("Milliseconds from SIGTERM to SIGKILL when it is stopped."),
    silenceTimeoutMs: z
      .int()
      .min(500)
      .max(600_000)
      .default(10_000)
      .describe("Milliseconds that the service may be frozen before the command is killed; keep it below two heartbeats."),
  }),
  async run({ params, signal, log, emit, observer, runId }) {
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
    const [exit] = await Promise.all([
      guarded.exited,
      readLines(guarded.stdout, maxLineLength, (line) => output.send(line)),
      readLines(guarded.stderr, maxLineLength, ({ line }) => {
        log.warn(line, { from: "stderr" });
        stderrTail.push(printable(line.slice(0, stderrTailLineLength)));
        if (stderrTail.length > stderrTailLines) stderrTail.shift();
      }),
    ]);
    signal.removeEventListener("abort", onAbort);

    if (output.dropped() > 0) log.warn("lines printed after the stop were dropped", { lines: output.dropped() });
    const failure = signal.aborted ? undefined : failureOf(exit, stderrTail);
    if (failure !== undefined) throw failure;
  },
});

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
