import type { Permissions } from "@unacked/sdk";
import { z } from "zod";

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Params of the type `process`. What is permitted is part of them, so that a client learns it at POST. */
export function processParams({ commands, variables }: Pick<Permissions, "commands" | "variables">) {
  const params = z.strictObject({
    command: permittedCommand(commands).describe(
      "The program: a path, or a name that is found by PATH. It is not given to a shell.",
    ),
    args: z.array(systemText(65_536)).max(1_000).default([]).describe("Its arguments, one by one."),
    env: z
      .record(permittedVariable(variables), systemText(65_536))
      .default({})
      .describe(
        `Environment variables, beside PATH, HOME, LANG and TZ of the service: ${variables === "any" ? "any" : permittedText(variables)}.`,
      ),
    cwd: systemText(4_096).min(1).optional().describe("Working directory; the service's own if left out."),
    stopTimeoutMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(5_000)
      .describe(
        "Milliseconds from a stop to SIGKILL. At least 5 s of the service's STOP_TIMEOUT_MS (25 s) are left: more is cut to that.",
      ),
    silenceTimeoutMs: z
      .int()
      .min(500)
      .max(600_000)
      .default(10_000)
      .describe("Milliseconds that the service may be frozen before the command is killed; keep it below two heartbeats."),
    protocol: z
      .enum(["lines", "json-lines"])
      .default("lines")
      .describe(
        '"lines": each line that it prints is emitted. "json-lines": it is told what it needs on its standard input, and says on its standard output what is to be emitted, saved and logged.',
      ),
    workerParams: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('What the command is given in its start message, where the protocol is "json-lines".'),
  });
  return params.refine(({ protocol, workerParams }) => protocol === "json-lines" || workerParams === undefined, {
    path: ["workerParams"],
    error: 'a command is given them by the protocol "json-lines" alone',
  });
}

export type ProcessParams = z.output<ReturnType<typeof processParams>>;

function permittedCommand(commands: Permissions["commands"]): z.ZodType<string, string> {
  if (commands === "any") return systemText(4_096).min(1);
  return z.enum(commands, { error: `this service runs only ${commands.join(", ")} (PROCESS_COMMANDS)` });
}

/**
 * Names and not patterns of what is dangerous: every shell, interpreter and build tool has variables that make it run
 * something else, and so has the next one. What a command does by its arguments is its own affair.
 */
function permittedVariable(variables: Permissions["variables"]) {
  const name = z.string().max(256);
  if (variables === "any") return name.regex(variableName, "must be letters, digits and _, no digit first");
  const oneOfThem = variables.length === 0 ? /^(?!)$/ : new RegExp(`^(?:${variables.join("|")})$`);
  const error = `this service lets params set ${permittedText(variables)}`;
  return name.regex(oneOfThem, error).describe(error);
}

const permittedText = (names: readonly string[]): string =>
  `${names.length === 0 ? "none" : `only ${names.join(", ")}`} (PROCESS_ENV)`;

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
