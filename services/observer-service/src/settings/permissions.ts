import { isAbsolute } from "node:path";
import type { Permissions } from "@unacked/sdk";
import { z } from "zod";

const ANY = "*";

/** One entry of PROCESS_COMMANDS. A path that is not absolute would depend on where the creator of an observer points. */
export const PermittedCommand = z
  .string({ error: "must be texts" })
  .min(1, "must not have an empty entry")
  .refine((command) => isAbsolute(command) || !command.includes("/"), {
    error: "must be names (found by PATH), absolute paths, or * alone",
  });

/** One entry of PROCESS_ENV. */
export const PermittedVariable = z
  .string({ error: "must be texts" })
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be names of letters, digits and _, no digit first");

type PermissionSettings = {
  ALLOW_PROCESS_OBSERVERS: boolean;
  PROCESS_COMMANDS?: string[] | undefined;
  PROCESS_ENV?: string[] | undefined;
  ALLOW_PRIVATE_ADDRESSES: boolean;
};

/** Checks for contradictions between the settings. */
export function checkPermissions(settings: PermissionSettings, context: z.RefinementCtx<PermissionSettings>): void {
  const { ALLOW_PROCESS_OBSERVERS: allowed, PROCESS_COMMANDS: commands } = settings;
  const problem = (message: string) => context.addIssue({ code: "custom", path: ["PROCESS_COMMANDS"], message });
  if (allowed && commands === undefined)
    problem("is required with ALLOW_PROCESS_OBSERVERS=true: the commands, separated by commas, or * for any");
  if (commands !== undefined && commands.length > 1 && commands.includes(ANY))
    problem("must be names and absolute paths, or * alone");
}

export function permissionsOf(settings: PermissionSettings): Permissions {
  const { ALLOW_PROCESS_OBSERVERS, PROCESS_COMMANDS: commands = [], PROCESS_ENV, ALLOW_PRIVATE_ADDRESSES } = settings;
  const isAny = ALLOW_PROCESS_OBSERVERS && commands.includes(ANY);
  return {
    commands: !ALLOW_PROCESS_OBSERVERS ? [] : isAny ? "any" : commands,
    // If any command may run, `env` and `sh` can set any variable: a given list is kept, but without one nothing is forbidden.
    variables: PROCESS_ENV ?? (isAny ? "any" : []),
    privateAddresses: ALLOW_PRIVATE_ADDRESSES,
  };
}
