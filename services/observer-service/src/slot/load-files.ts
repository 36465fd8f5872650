import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { BrokenFile } from "@unacked/contracts";
import type { NotOffered, ObserverDefinition, Permissions, TaskDefinition } from "@unacked/sdk";
import { isNotOffered, isTaskDefinition, offeredUnder } from "@unacked/sdk/host";
import type { DeadlyFile } from "../wire/messages.ts";
import { within } from "../within.ts";
import { codePrint } from "./code-print.ts";
import { brokenFile, describeLoadFailure } from "./load-failure.ts";
import { type Described, describeType } from "./type-catalogue.ts";

/** A file that takes longer than this is waited for while the next ones load. */
const NEXT_AFTER_MS = 1_000;
/**
 * A file that has not finished by then, counted from the last file on, may never finish: it waits for something at its top
 * level.
 */
const LAST_WITHIN_MS = 30_000;

export interface LoadOptions {
  /** Enters the owner of what a file starts at its top level. Default: nobody. */
  readonly enter?: (file: string, load: () => Promise<unknown>) => Promise<unknown>;
  /** Files that are not loaded while their code is unchanged, and why. */
  readonly without?: readonly DeadlyFile[];
  /** Files that are loaded before all others. Default: none. */
  readonly first?: readonly string[];
  /** From now on this file is to blame for what happens. Undefined means that it is not known which. */
  readonly onFile?: (file: { readonly file: string; readonly print: string } | undefined) => void;
}

interface LoadedType {
  readonly definition: ObserverDefinition | TaskDefinition;
  readonly described: Described;
}

type Loaded = LoadedType | NotOffered | BrokenFile;

export interface FileLoad {
  readonly file: string;
  readonly print: string;
  readonly loaded: Loaded;
}

/**
 * Loads these files, one after the other, except that it does not stop for those that wait. A file that does not load, or never finishes,
 * is a broken file.
 */
export async function loadFiles(
  files: readonly string[],
  permissions: Permissions,
  options: LoadOptions,
): Promise<FileLoad[]> {
  const { enter = (_file, load) => load(), without = [], first = [], onFile } = options;
  const begun: { file: string; print: string; loading: Promise<Loaded> }[] = [];
  let waiting = 0;
  const early = first.filter((file) => files.includes(file));
  for (const file of new Set([...early, ...files])) {
    const print = codePrint(file);
    const deadly = without.find((one) => one.file === file && one.print === print);
    if (deadly !== undefined) {
      begun.push({ file, print, loading: Promise.resolve(brokenFile(file, deadly.problem)) });
      continue;
    }
    onFile?.(waiting === 0 ? { file, print } : undefined);
    waiting += 1;
    const loading = loadOne(file, permissions, enter).finally(() => {
      waiting -= 1;
    });
    begun.push({ file, print, loading });
    await within(NEXT_AFTER_MS, loading);
  }
  onFile?.(undefined);
  const inTime = within(LAST_WITHIN_MS, Promise.all(begun.map(({ loading }) => loading)));
  return Promise.all(
    begun.sort(inOrderOf(files)).map(async ({ file, print, loading }) => {
      const late = inTime.then(() => brokenFile(file, NEVER_LOADED));
      return { file, print, loaded: await Promise.race([loading, late]) };
    }),
  );
}

const inOrderOf =
  (files: readonly string[]) =>
  (one: { file: string }, other: { file: string }): number =>
    files.indexOf(one.file) - files.indexOf(other.file);

const NEVER_LOADED = `it does not load: it has not come to its end within ${LAST_WITHIN_MS / 1_000} s: an await outside of its handlers, or in what it imports, waits for something`;

const NO_TYPE =
  "its default export is no observer type, nor a task type: export default defineObserver({ … }), or defineTask({ … }); a helper belongs in a folder below";

async function loadOne(file: string, permissions: Permissions, enter: Required<LoadOptions>["enter"]): Promise<Loaded> {
  try {
    return (await enter(file, async () => {
      const value = exportedBy((await import(pathToFileURL(file).href)) as { default?: unknown });
      const definition = isTaskDefinition(value) ? value : offeredUnder(value, permissions);
      if (definition === undefined) return brokenFile(file, NO_TYPE);
      return isNotOffered(definition) ? definition : { definition, described: describeType(definition) };
    })) as Loaded;
  } catch (error) {
    const failure = describeLoadFailure(file, error);
    return failure.place === undefined ? ((await syntaxFailureOf(file)) ?? failure) : failure;
  }
}

/** From TypeScript that was compiled to CommonJS, Node takes all of its exports as its `export default`. */
function exportedBy({ default: value }: { default?: unknown }): unknown {
  const compiled = value as { __esModule?: unknown; default?: unknown } | null | undefined;
  return compiled?.__esModule === true ? compiled.default : value;
}

/** For JavaScript in a folder without a package.json Node does not say where it is wrong, as it took it for CommonJS. */
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
