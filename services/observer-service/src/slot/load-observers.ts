import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire, register as registerHooks } from "node:module";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrokenFile } from "@unacked/contracts";
import {
  isNotOffered,
  isTaskDefinition,
  type NotOffered,
  type ObserverDefinition,
  offeredUnder,
  type Permissions,
  type TaskDefinition,
} from "@unacked/sdk";
import { errorText } from "../error-text.ts";
import type { LoadedFolder } from "../wire/messages.ts";
import { within } from "../within.ts";
import { codePrint } from "./code-print.ts";
import { brokenFile, brokenFileText, describeLoadFailure } from "./load-failure.ts";

/** Nothing in the folder can be run; every file at fault is named. The service does not start. */
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
  /** Files whose type does not exist under these permissions, and why. */
  readonly notOffered: readonly { file: string; problem: string }[];
  /** Files that cost their own types, and nothing else. */
  readonly broken: readonly BrokenFile[];
  /** Of each type: its file, and the print of its code. */
  readonly code: LoadedFolder["code"];
}

const isObserverFile = (name: string): boolean =>
  /\.(ts|js|mjs)$/.test(name) && !name.endsWith(".d.ts") && !/\.test\.[^.]+$/.test(name);

/** A file that takes longer is waited for beside those behind it. */
const NEXT_AFTER_MS = 1_000;
/** What has not come to its end by then, counted from the last file on, may never: it waits for something at its top level. */
const LAST_WITHIN_MS = 30_000;

/** Enters a file's own code. */
export type EnterFile = (file: string, load: () => Promise<unknown>) => Promise<unknown>;

/**
 * Loads every top-level .ts, .js and .mjs file of a folder; TypeScript goes through tsx, so it needs no build. A file that
 * does not load, or never comes to the end of loading, costs its own types alone. Of two files with one type the first by name has it.
 *
 * @param enter who answers for what a file starts at its top level: nobody, if nothing is said
 * @throws LoadObserversError where no file has a type
 */
export async function loadObservers(
  dir: string,
  permissions: Permissions,
  enter: EnterFile = (_file, load) => load(),
): Promise<LoadedObservers> {
  const files = observerFiles(dir);
  // Stacks name the author's own files and lines, also in JavaScript that was compiled elsewhere and brings its maps.
  process.setSourceMapsEnabled(true);
  if (files.some((file) => file.endsWith(".ts"))) (await import("tsx/esm/api")).register();
  if (!files.every(findsPackages)) registerHooks(new URL(`./resolve-sdk${extname(import.meta.url)}`, import.meta.url));

  const broken: BrokenFile[] = [];
  const notOffered: { file: string; problem: string }[] = [];
  const types = new Map<string, ObserverDefinition>();
  const tasks = new Map<string, TaskDefinition>();
  const code = new Map<string, LoadedFolder["code"][number]>();
  for (const { file, print, loaded } of await loadAll(files, permissions, enter)) {
    if ("problem" in loaded) broken.push(loaded);
    else if (isNotOffered(loaded)) notOffered.push({ file, problem: loaded.notOffered });
    else {
      const earlier = code.get(loaded.type)?.file;
      if (earlier !== undefined) broken.push(brokenFile(file, `its type ${loaded.type} is that of ${earlier} too`));
      else {
        if (isTaskDefinition(loaded)) tasks.set(loaded.type, loaded);
        else types.set(loaded.type, loaded);
        code.set(loaded.type, { type: loaded.type, file, print });
      }
    }
  }
  if (types.size + tasks.size === 0)
    throw new LoadObserversError([
      brokenFile(dir, "there is no observer type in it, and no task type"),
      ...broken,
      ...notOffered,
    ]);
  return { types, tasks, notOffered, broken, code: [...code.values()] };
}

/** It is JavaScript, and what every observer imports is installed where it lies: no hook, for which Node starts a thread. */
function findsPackages(file: string): boolean {
  const { resolve: find } = createRequire(file);
  try {
    return !file.endsWith(".ts") && ["@unacked/sdk", "zod"].every((name) => find(name));
  } catch {
    return false;
  }
}

function observerFiles(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter(isObserverFile)
      .sort()
      .map((name) => resolve(dir, name))
      .filter(isFileOrNothing);
  } catch (error) {
    throw new LoadObserversError([brokenFile(dir, errorText(error).message)]);
  }
}

/** What leads nowhere does not load, which is told: an editor's lock, as Emacs makes one, is such a link, and costs no other file its types. */
function isFileOrNothing(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}

type Loaded = ObserverDefinition | TaskDefinition | NotOffered | BrokenFile;

interface FileLoad {
  readonly file: string;
  readonly print: string;
  readonly loaded: Loaded;
}

/** One after the other, but for those that wait for something. */
async function loadAll(files: readonly string[], permissions: Permissions, enter: EnterFile): Promise<FileLoad[]> {
  const begun: { file: string; print: string; loading: Promise<Loaded> }[] = [];
  for (const file of files) {
    const print = codePrint(file);
    const loading = loadOne(file, permissions, enter);
    begun.push({ file, print, loading });
    await within(NEXT_AFTER_MS, loading);
  }
  const inTime = within(LAST_WITHIN_MS, Promise.all(begun.map(({ loading }) => loading)));
  return Promise.all(
    begun.map(async ({ file, print, loading }) => {
      const late = inTime.then(() => brokenFile(file, NEVER_LOADED));
      return { file, print, loaded: await Promise.race([loading, late]) };
    }),
  );
}

const NEVER_LOADED = `it does not load: it has not come to its end within ${LAST_WITHIN_MS / 1_000} s: an await outside of its handlers, or in what it imports, waits for something`;

async function loadOne(file: string, permissions: Permissions, enter: EnterFile): Promise<Loaded> {
  try {
    const module = (await enter(file, () => import(pathToFileURL(file).href))) as { default?: unknown };
    const noType =
      "its default export is no observer type, nor a task type: export default defineObserver({ … }), or defineTask({ … })";
    if (isTaskDefinition(module.default)) return module.default;
    return offeredUnder(module.default, permissions) ?? brokenFile(file, noType);
  } catch (error) {
    const failure = describeLoadFailure(file, error);
    return failure.place === undefined ? ((await syntaxFailureOf(file)) ?? failure) : failure;
  }
}

/** Node does not say where JavaScript is wrong that stands in a folder without a package.json: it took it for CommonJS. */
async function syntaxFailureOf(file: string): Promise<BrokenFile | undefined> {
  const { transform } = await import("esbuild");
  try {
    await transform(readFileSync(file, "utf8"), {
      sourcefile: file,
      loader: file.endsWith(".ts") ? "ts" : "js",
      logLevel: "silent",
    });
    return undefined;
  } catch (error) {
    return describeLoadFailure(file, error);
  }
}
