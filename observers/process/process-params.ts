import type { Permissions } from "@unacked/sdk";
import { z } from "zod";

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Not these, where only some commands may run: they make a loader, a shell or an interpreter run something else. What a
 * command does by its arguments is its own affair: with `sh` or `node` among the commands, any command may run.
 */
const harmlessVariableName =
  /^(?!(?:PATH|IFS|ENV|CLASSPATH|GCONV_PATH|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|JAVA_TOOL_OPTIONS)$|(?:LD_|DYLD_|BASH_|NODE_|GIT_|GEM_|LUA_|DOTNET_|PYTHON|PERL|RUBY))[A-Za-z_][A-Za-z0-9_]*$/;

/** Params of the type `process`. Which commands are permitted is part of them, so that a client learns it at POST. */
export function processParams(commands: Permissions["commands"]) {
  return z.strictObject({
    command: permittedCommand(commands).describe(
      "The program: a path, or a name that is found by PATH. It is not given to a shell.",
    ),
    args: z.array(systemText(65_536)).max(1_000).default([]).describe("Its arguments, one by one."),
    env: z
      .record(permittedVariable(commands), systemText(65_536))
      .default({})
      .describe("Environment variables, beside PATH, HOME, LANG and TZ of the service."),
    cwd: systemText(4_096).min(1).optional().describe("Working directory; the service's own if left out."),
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
  });
}

export type ProcessParams = z.output<ReturnType<typeof processParams>>;

function permittedCommand(commands: Permissions["commands"]): z.ZodType<string, string> {
  if (commands === "any") return systemText(4_096).min(1);
  return z.enum(commands, { error: `this service runs only ${commands.join(", ")} (PROCESS_COMMANDS)` });
}

function permittedVariable(commands: Permissions["commands"]) {
  const name = z.string().max(256);
  if (commands === "any") return name.regex(variableName, "must be letters, digits and _, no digit first");
  const hint = "none that makes a command run another (PATH, LD_PRELOAD, NODE_OPTIONS …)";
  return name.regex(harmlessVariableName, `must be letters, digits and _, no digit first, and ${hint}`);
}

/** A text for the operating system, whose texts end at a NUL. */
function systemText(maxLength: number) {
  return (
    z
      .string()
      .max(maxLength)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be in it
      .regex(/^[^\x00]*$/, "must not hold a NUL character")
  );
}
