import { readdirSync, statSync } from "node:fs";
import { createRequire, register as registerHooks } from "node:module";
import { basename, extname, resolve } from "node:path";
import { type BrokenFile, MAX_TYPES } from "@unacked/contracts";
import type { ObserverDefinition, Permissions, TaskDefinition } from "@unacked/sdk";
import { isNotOffered, isTaskDefinition } from "@unacked/sdk/host";
import { errorText } from "../error-text.ts";
import type { LoadedFolder } from "../wire/messages.ts";
import { brokenFile, brokenFileText } from "./load-failure.ts";
import { type LoadOptions, loadFiles } from "./load-files.ts";
import type { Described } from "./type-catalogue.ts";

/** Nothing in the folder can be run. Every file at fault is named, and the service does not start. */
export class LoadObserversError extends Error {
  override readonly name = "LoadObserversError";
  readonly code = "observers-not-loaded";

  constructor(problems: readonly BrokenFile[]) {
    super(problems.map(brokenFileText).join("\n"));
  }
}

export type ObserverTypes = ReadonlyMap<string, ObserverDefinition>;
export type TaskTypes = ReadonlyMap<string, TaskDefinition>;

export interface LoadedObservers {
  readonly types: ObserverTypes;
  readonly tasks: TaskTypes;
  /** Files whose type does not exist under these permissions, or whose ending is not loaded. */
  readonly notOffered: readonly { file: string; problem: string }[];
  /** Broken files. Only their own types are missing. */
  readonly broken: readonly BrokenFile[];
  /** Each type as it is announced. */
  readonly described: readonly Described[];
  /** For each type: its file, and the print of its code. */
  readonly code: LoadedFolder["code"];
}

const LOADED = /\.(ts|js|mjs)$/;
/** Endings that are not loaded. `unacked dev` watches these, too, as others import them. */
const LEFT_OUT = /\.([cm]ts|cjs|[jt]sx)$/;
/** Tests, and files that only declare types. */
const NO_TYPE = /\.(test\.[^.]+|d\.[cm]?ts)$/;

/**
 * Loads every top-level .ts, .js and .mjs file of a folder; TypeScript goes through tsx, so it needs no build. A file that does not
 * load, or never finishes, only makes its own types missing. If two files have one type, the first by name wins.
 *
 * @throws LoadObserversError if no file has a type
 */
export async function loadObservers(
  dir: string,
  permissions: Permissions,
  options: LoadOptions = {},
): Promise<LoadedObservers> {
  const files = filesOf(dir, LOADED);
  // Makes stacks name the author's own files and lines, also for JavaScript that was compiled elsewhere and brings its maps.
  process.setSourceMapsEnabled(true);
  if (files.some((file) => file.endsWith(".ts"))) (await import("tsx/esm/api")).register();
  if (!files.every(findsPackages)) registerHooks(new URL(`./resolve-sdk${extname(import.meta.url)}`, import.meta.url));

  const broken: BrokenFile[] = [];
  const notOffered = filesOf(dir, LEFT_OUT).map((file) => ({
    file,
    problem: `left out: ${basename(file)} (.ts, .js and .mjs are loaded)`,
  }));
  const types = new Map<string, ObserverDefinition>();
  const tasks = new Map<string, TaskDefinition>();
  const described: Described[] = [];
  const code = new Map<string, LoadedFolder["code"][number]>();
  for (const { file, print, loaded } of await loadFiles(files, permissions, options)) {
    if ("problem" in loaded) broken.push(loaded);
    else if (isNotOffered(loaded)) notOffered.push({ file, problem: `not offered here: ${loaded.notOffered}` });
    else {
      const { definition, ...rest } = loaded;
      const { type } = rest.described;
      const flaw = isTaskDefinition(definition) ? put(type, definition, tasks, code) : put(type, definition, types, code);
      if (flaw !== undefined) broken.push(brokenFile(file, flaw));
      else {
        described.push(rest.described);
        code.set(type, { type, file, print });
      }
    }
  }
  if (types.size + tasks.size === 0)
    throw new LoadObserversError([
      brokenFile(dir, "there is no observer type in it, and no task type"),
      ...broken,
      ...notOffered,
    ]);
  return { types, tasks, described, notOffered, broken, code: [...code.values()] };
}

/** @returns why it cannot be one of them */
function put<Definition>(
  type: string,
  definition: Definition,
  all: Map<string, Definition>,
  code: ReadonlyMap<string, { readonly file: string }>,
): string | undefined {
  const earlier = code.get(type)?.file;
  if (earlier !== undefined) return `its type ${type} is that of ${earlier} too`;
  if (all.size === MAX_TYPES) return `its type ${type} is one more than the ${MAX_TYPES} that a service announces`;
  all.set(type, definition);
  return undefined;
}

/**
 * Whether it is JavaScript, and finds the packages of every observer from its folder: then no hook is needed, for which Node
 * starts a thread.
 */
function findsPackages(file: string): boolean {
  const { resolve: find } = createRequire(file);
  try {
    return !file.endsWith(".ts") && ["@unacked/sdk", "zod"].every((name) => find(name));
  } catch {
    return false;
  }
}

function filesOf(dir: string, ending: RegExp): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => ending.test(name) && !NO_TYPE.test(name))
      .sort()
      .map((name) => resolve(dir, name))
      .filter(isFileOrNothing);
  } catch (error) {
    throw new LoadObserversError([brokenFile(dir, errorText(error).message)]);
  }
}

/**
 * A link that leads nowhere does not load, which is reported. An editor's lock, as Emacs makes one, is such a link, and other files keep
 * their types.
 */
function isFileOrNothing(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}
