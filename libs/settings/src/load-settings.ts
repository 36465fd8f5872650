import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { z } from "zod";
import { traitsOf } from "./setting.ts";
import { SettingsError } from "./settings-error.ts";

export type SettingsSources = {
  /** Usually `process.env`. It wins over the file. An empty value counts as not given. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A YAML or JSON file of `NAME: value` lines, the names as in the environment; usually `env.CONFIG_FILE`. */
  readonly file?: string | undefined;
};

/**
 * Reads a program's settings. Throws {@link SettingsError} naming every wrong value and every unknown name in the file
 * (the environment is full of other programs' names, so unknown ones there are no error).
 */
export function loadSettings<S extends z.ZodObject>(schema: S, sources: SettingsSources): z.output<S> {
  const problems: string[] = [];
  const fromEnv = notEmpty(sources.env);
  const fromFile = sources.file ? readSettingsFile(sources.file, problems) : {};
  const names = Object.keys(schema.shape);

  const known = new Set(names.flatMap((name) => [name, ...fileVariant(schema, name)]));
  for (const name of Object.keys(fromFile)) {
    if (!known.has(name)) problems.push(`${name}: there is no such setting (in ${sources.file})`);
  }
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const variants = fileVariant(schema, name);
    const inEnv = [name, ...variants].some((each) => fromEnv[each] !== undefined);
    const value = readValue(name, variants[0], inEnv ? fromEnv : fromFile, problems);
    if (value !== undefined) values[name] = value;
  }
  const parsed = schema.safeParse(values);
  if (!parsed.success) problems.push(...parsed.error.issues.map((issue) => describe(issue, values)));
  if (problems.length > 0 || !parsed.success) throw new SettingsError([...new Set(problems)]);
  return parsed.data;
}

export type SettingDescription = {
  readonly name: string;
  readonly description: string;
  /** `undefined` means that it is required, or not set unless given. */
  readonly defaultValue: unknown;
  readonly required: boolean;
  readonly secret: boolean;
};

/** Describes every setting of a schema, in its order, for the docs and `--help`. */
export function describeSettings(schema: z.ZodObject): SettingDescription[] {
  return Object.entries(schema.shape).map(([name, setting]) => {
    const type = setting as z.ZodType;
    const whenMissing = type.safeParse(undefined);
    return {
      name: [name, ...fileVariant(schema, name)].join(" or "),
      description: type.description ?? "",
      defaultValue: whenMissing.success ? whenMissing.data : undefined,
      required: !whenMissing.success,
      secret: traitsOf(type).secret === true,
    };
  });
}

function fileVariant(schema: z.ZodObject, name: string): string[] {
  return traitsOf(schema.shape[name] as z.ZodType).orFile ? [`${name}_FILE`] : [];
}

function notEmpty(env: SettingsSources["env"]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
}

/** Loaded only if needed: few have such a file, and each start of a program would pay for it. */
const loadYaml = () => createRequire(import.meta.url)("yaml") as typeof import("yaml");

function readSettingsFile(path: string, problems: string[]): Record<string, unknown> {
  let content: unknown;
  try {
    content = loadYaml().parse(readFileSync(path, "utf8"));
  } catch (error) {
    problems.push(`CONFIG_FILE: ${path} cannot be read: ${firstLine(error)}`);
    return {};
  }
  if (content === null || content === undefined) return {};
  if (typeof content === "object" && !Array.isArray(content)) return content as Record<string, unknown>;
  problems.push(`CONFIG_FILE: ${path} must hold NAME: value lines`);
  return {};
}

/** The value as it is given, or from the file that `variant` names. */
function readValue(name: string, variant: string | undefined, given: Record<string, unknown>, problems: string[]): unknown {
  const path = variant === undefined ? undefined : given[variant];
  if (path === undefined) return given[name];
  if (given[name] !== undefined) {
    problems.push(`${name}: give it or ${variant}, not both`);
    return given[name];
  }
  try {
    return readFileSync(String(path), "utf8").trim();
  } catch (error) {
    problems.push(`${variant}: ${firstLine(error)}`);
    return undefined;
  }
}

function describe(issue: z.core.$ZodIssue, values: Record<string, unknown>): string {
  const name = String(issue.path[0] ?? "settings");
  const isMissing = values[name] === undefined && issue.code !== "custom";
  return isMissing ? `${name}: is required` : `${name}: ${issue.message}`;
}

const firstLine = (error: unknown): string => String(error instanceof Error ? error.message : error).split("\n", 1)[0] ?? "";
