import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Names by relative path: it matches more than the language would (comments, types), but never less of what is written out.
 */
const NAMED = /\b(?:from|import|require)\s*(?:\(\s*)?["'`](\.{1,2}\/[^"'`\n]*)["'`]/g;
/**
 * `./x.js` may be the TypeScript beside it, and `./x` either. All existing ones count, as an old `x.js` beside `x.ts` is not what is
 * loaded.
 */
const ENDINGS = ["", ".ts", ".js", ".mjs", ".tsx", ".json", "/index.ts", "/index.js"];

/**
 * A print of a file's code: of its text, and of everything that it imports by relative path, and so on. Equal prints mean the same
 * code, as far as that is visible without running it. Packages are left out. Take it before the import, so that a save between the
 * two counts as a change. Never throws: unreadable files are left out.
 */
export function codePrint(file: string): string {
  const texts = new Map<string, string>();
  collect(file, texts);
  const hash = createHash("sha256");
  for (const [name, text] of [...texts].toSorted(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${name}\0${text}\0`);
  return hash.digest("base64url");
}

/** The folders of that code, and of missing files that it names: these are where a save may come. */
export function codeFolders(file: string): Set<string> {
  const texts = new Map<string, string>();
  const named = new Set<string>();
  collect(file, texts, named);
  return new Set([...texts.keys(), ...named].map((path) => dirname(path)));
}

/** @param paths takes all that it names, without what it may end in */
function collect(file: string, texts: Map<string, string>, paths = new Set<string>()): void {
  if (texts.has(file)) return;
  const text = textOf(file);
  if (text === undefined) return;
  texts.set(file, text);
  for (const [, named = ""] of text.matchAll(NAMED)) {
    const path = resolve(dirname(file), named);
    paths.add(path);
    for (const candidate of candidatesOf(path)) collect(candidate, texts, paths);
  }
}

const candidatesOf = (path: string): string[] => [
  ...ENDINGS.map((ending) => path + ending),
  path.replace(/\.(m?)js(x?)$/, ".$1ts$2"),
];

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // there is none, or it is a folder
  }
}
