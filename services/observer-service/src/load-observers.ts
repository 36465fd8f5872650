import { readdirSync, statSync } from "node:fs";
import { register as registerHooks } from "node:module";
import { extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isObserverDefinition, type ObserverDefinition } from "@unacked/sdk";
import { register as registerTypeScript } from "tsx/esm/api";
import { errorText } from "./error-text.ts";

/** One file that is no observer type, and why. */
export interface LoadProblem {
  readonly file: string;
  readonly problem: string;
}

/** The folder cannot be used as it is; every file at fault is named. The service does not start. */
export class LoadObserversError extends Error {
  override readonly name = "LoadObserversError";
  readonly code = "observers-not-loaded";
  readonly problems: readonly LoadProblem[];

  constructor(problems: readonly LoadProblem[]) {
    super(problems.map(({ file, problem }) => `${file}: ${problem}`).join("; "));
    this.problems = problems;
  }
}

export type ObserverTypes = ReadonlyMap<string, ObserverDefinition>;

const isObserverFile = (name: string): boolean =>
  /\.(ts|js|mjs)$/.test(name) && !name.endsWith(".d.ts") && !/\.test\.[^.]+$/.test(name);

/** Loads every top-level .ts, .js and .mjs file of a folder; TypeScript goes through tsx, so it needs no build. */
export async function loadObservers(dir: string): Promise<ObserverTypes> {
  const files = observerFiles(dir);
  if (files.some((file) => file.endsWith(".ts"))) registerTypeScript();
  registerHooks(new URL(`./resolve-sdk${extname(import.meta.url)}`, import.meta.url));

  const problems: LoadProblem[] = [];
  const types = new Map<string, ObserverDefinition>();
  const fileOfType = new Map<string, string>();
  for (const file of files) {
    const definition = await loadOne(file, problems);
    if (definition === undefined) continue;
    const earlier = fileOfType.get(definition.type);
    if (earlier !== undefined) problems.push({ file, problem: `its type ${definition.type} is that of ${earlier} too` });
    types.set(definition.type, definition);
    fileOfType.set(definition.type, file);
  }
  if (types.size === 0 && problems.length === 0) problems.push({ file: dir, problem: "there is no observer type in it" });
  if (problems.length > 0) throw new LoadObserversError(problems);
  return types;
}

function observerFiles(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter(isObserverFile)
      .sort()
      .map((name) => join(dir, name))
      .filter((file) => statSync(file).isFile());
  } catch (error) {
    throw new LoadObserversError([{ file: dir, problem: errorText(error).message }]);
  }
}

async function loadOne(file: string, problems: LoadProblem[]): Promise<ObserverDefinition | undefined> {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
    if (isObserverDefinition(module.default)) return module.default;
    problems.push({ file, problem: "its default export is no observer type: export default defineObserver({ … })" });
  } catch (error) {
    const { name, message } = errorText(error);
    problems.push({ file, problem: `it does not load: ${name}: ${message.split("\n", 1)[0]}` });
  }
  return undefined;
}
