import type { CommandExit } from "./guarded-command.ts";

/**
 * A command that ended otherwise than with 0, could not be started, or whose guardian was killed. A worker, besides: it said what cannot be
 * read, or what it said was not published or saved.
 */
export class ProcessFailed extends Error {
  override readonly name = "ProcessFailed";
  readonly code:
    | "process-exited"
    | "process-killed"
    | "process-not-started"
    | "guardian-lost"
    | "line-unreadable"
    | "event-lost"
    | "checkpoint-lost";

  constructor(code: ProcessFailed["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** What an end means: `undefined` is the good one, exit code 0. `stderrTail`: the last lines the command complained with. */
export function failureOf(exit: CommandExit, stderrTail: readonly string[]): ProcessFailed | undefined {
  const lastWords = stderrTail.length === 0 ? "" : `; the last of its stderr: ${stderrTail.join("\n")}`;
  switch (exit.kind) {
    case "exited":
      if (exit.code === 0) return undefined;
      return exit.signal === null
        ? new ProcessFailed("process-exited", `the command exited with code ${exit.code}${lastWords}`)
        : new ProcessFailed("process-killed", `the command was killed by ${exit.signal}${lastWords}`);
    case "not-started":
      return new ProcessFailed("process-not-started", `the command could not be started: ${exit.message}`);
    case "guardian-lost":
      return new ProcessFailed("guardian-lost", `the guardian process was killed, and the command with it${lastWords}`);
    default:
      return exit satisfies never;
  }
}
