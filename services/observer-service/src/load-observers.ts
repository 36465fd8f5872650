import { readdirSync, statSync } from "node:fs";
import { register as registerHooks } from "node:module";
import { extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isNotOffered, type NotOffered, type ObserverDefinition, offeredUnder, type Permissions } from "@unacked/sdk";
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

export interface LoadedObservers {
  readonly types: ObserverTypes;
  /** Files whose type does not exist under these permissions, and why. */
  readonly notOffered: readonly LoadProblem[];
}

const isObserverFile = (name: string): boolean =>
  /\.(ts|js|mjs)$/.test(name) && !name.endsWith(".d.ts") && !/\.test\.[^.]+$/.test(name);

/** Loads every top-level .ts, .js and .mjs file of a folder; TypeScript goes through tsx, so it needs no build. */
export async function loadObservers(dir: string, permissions: Permissions): Promise<LoadedObservers> {
  const files = observerFiles(dir);
  if (files.some((file) => file.endsWith(".ts"))) registerTypeScript();
  registerHooks(new URL(`./resolve-sdk${extname(import.meta.url)}`, import.meta.url));

  const problems: LoadProblem[] = [];
  const notOffered: LoadProblem[] = [];
  const types = new Map<string, ObserverDefinition>();
  const fileOfType = new Map<string, string>();
  for (const file of files) {
    const loaded = await loadOne(file, permissions);
    if ("problem" in loaded) problems.push({ file, problem: loaded.problem });
    else if (isNotOffered(loaded)) notOffered.push({ file, problem: loaded.notOffered });
    else {
      const earlier = fileOfType.get(loaded.type);
      if (earlier !== undefined) problems.push({ file, problem: `its type ${loaded.type} is that of ${earlier} too` });
      types.set(loaded.type, loaded);
      fileOfType.set(loaded.type, file);
    }
  }
  if (types.size === 0 && problems.length === 0)
    problems.push({ file: dir, problem: "there is no observer type in it" }, ...notOffered);
  if (problems.length > 0) throw new LoadObserversError(problems);
  return { types, notOffered };
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

async function loadOne(
  file: string,
  permissions: Permissions,
): Promise<ObserverDefinition | NotOffered | { problem: string }> {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
    const noType = "its default export is no observer type: export default defineObserver({ … })";
    return offeredUnder(module.default, permissions) ?? { problem: noType };
  } catch (error) {
    const { name, message } = errorText(error);
    return { problem: `it does not load: ${name}: ${message.split("\n", 1)[0]}` };
  }
}
