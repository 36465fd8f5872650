import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** What it names by relative path: more than the language would find (comments, types), never less of what is written out. */
const NAMED = /\b(?:from|import|require)\s*(?:\(\s*)?["'`](\.{1,2}\/[^"'`\n]*)["'`]/g;
/** `./x.js` may be the TypeScript beside it, and `./x` either: all that there are count, as an old `x.js` beside `x.ts` is not what is loaded. */
const ENDINGS = ["", ".ts", ".js", ".mjs", ".tsx", ".json", "/index.ts", "/index.js"];

/**
 * A print of the code of a file: of its text, and of all that it imports by relative path, and so on. Equal prints: the same code, as
 * far as that can be seen without running it. Packages are left out. To be taken before the import, so that what is saved between
 * the two counts as a change. Never throws: what cannot be read is no part of it.
 */
export function codePrint(file: string): string {
  const texts = new Map<string, string>();
  collect(file, texts);
  const hash = createHash("sha256");
  for (const [name, text] of [...texts].toSorted(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${name}\0${text}\0`);
  return hash.digest("base64url");
}

/** The folders of that code, and of what it names and is not there: whoever waits for a save looks there. */
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
    return undefined; // none, or a folder
  }
}
