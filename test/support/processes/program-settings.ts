import { basename } from "node:path";
import { loadSettings } from "@unacked/settings";
import type { z } from "zod";
import { ManagerSettings } from "../../../services/observer-manager/src/settings.ts";
import { ServiceSettings } from "../../../services/observer-service/src/settings/settings.ts";

export const PROGRAMS: Record<string, z.ZodObject> = {
  "observer-manager": ManagerSettings,
  "observer-service": ServiceSettings,
};

/** Environment names that are Node's, or OpenTelemetry's, rather than a setting. */
const OF_OTHERS = /^(NODE_ENV|OTEL_[A-Z_]+)$/;

/** That can be read: settings do not look into it. */
const A_FILE = process.execPath;

/**
 * What is wrong with the environment that a deployment gives a program: names that are no setting of it, wrong values,
 * required settings left out. `*_FILE` names count as their setting, given with the value `secrets` has for it; those that are a
 * setting themselves, as a file that is there.
 */
export function environmentFlaws(
  program: string,
  given: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>> = {},
): string[] {
  const schema = PROGRAMS[program];
  if (schema === undefined) return [`${program} is no program`];
  const flaws: string[] = [];
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const setting = name in schema.shape ? name : name.replace(/_FILE$/, "");
    if (OF_OTHERS.test(name)) continue;
    if (!(setting in schema.shape)) flaws.push(`${name}: ${program} has no such setting`);
    else if (name !== setting) env[setting] = secrets[setting] ?? "";
    else env[name] = isMounted(value, secrets) ? A_FILE : value;
  }
  try {
    loadSettings(schema, { env });
  } catch (error) {
    flaws.push(error instanceof Error ? error.message : String(error));
  }
  return flaws;
}

const isMounted = (path: string, secrets: Readonly<Record<string, string>>): boolean =>
  path.startsWith("/") && basename(path) in secrets;
