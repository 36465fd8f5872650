import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrokenFile, placeText, type SourcePlace } from "@unacked/contracts";
import { errorText, sendableText, stackOf } from "../error-text.ts";

const MAX_FILE = 1_000;
const MAX_PROBLEM = 2_000;
const MAX_EXCERPT = 1_000;
/** How many characters of a stack's line are read, from its end. */
const MAX_FRAME = 4_096;
const MAX_EXCERPT_LINE = 160;
const LINES_AROUND = 2;
const MAX_SHOWN_WHOLE = 200;
const MAX_PROBLEM_OF_MANY = 200;

/**
 * Why a file does not load, for its author: what was thrown, in which file and line, and these lines. The place may be in a
 * file that it imports. It is found, in this order, in what esbuild says of TypeScript, in what V8 says of JavaScript, at
 * the import that found nothing, and at the first line of the author's own in the stack. Never throws.
 *
 * @param file the observer file
 * @param thrown by its import
 */
export function describeLoadFailure(file: string, thrown: unknown): BrokenFile {
  const { name, message } = errorText(thrown);
  const syntax = syntaxErrorOf(message);
  const place =
    syntax?.place ??
    placeOfParseError(stackOf(thrown)) ??
    placeOfMissingImport(message) ??
    placeInStack(stackOf(thrown), dirname(file));
  const text = syntax?.text ?? `${name}: ${message.split("\n", 1)[0]}`;
  return brokenFile(file, `it does not load: ${text}`, place);
}

/** What is wrong with a file, as it is reported: with the lines around the place, if there is one that can be read. */
export function brokenFile(file: string, problem: string, place?: SourcePlace): BrokenFile {
  const excerpt = place === undefined ? undefined : excerptAt(place);
  return {
    file: sendableText(file, MAX_FILE),
    problem: sendableText(problem, MAX_PROBLEM),
    ...(place !== undefined && { place: { ...place, file: sendableText(place.file, MAX_FILE) } }),
    ...(excerpt !== undefined && { excerpt }),
  };
}

/** Hundreds are sent as the first ones are; all of thousands would be more than a slot sends at once. */
export const boundedBroken = (broken: readonly BrokenFile[]): BrokenFile[] =>
  broken.map((one, place) => {
    if (place < MAX_SHOWN_WHOLE) return one;
    return { file: one.file, problem: sendableText(one.problem, MAX_PROBLEM_OF_MANY) };
  });

/** The text for a terminal and a log: the problem with its place, and below it the lines. */
export function brokenFileText(broken: BrokenFile): string {
  const { file, problem, place, excerpt } = broken;
  const via = place === undefined || place.file === file ? "" : ` (imported by ${file})`;
  return `${placeText(broken)}${via}: ${problem}${excerpt === undefined ? "" : `\n${excerpt}`}`;
}

/** Reads esbuild's form, with columns counted from 0: `/path/file.ts:5:21: ERROR: Expected "}" but found ")"`. */
function syntaxErrorOf(message: string): { place: SourcePlace; text: string } | undefined {
  const [, file, line, column, text] = /^(.+):(\d+):(\d+): ERROR: (.*)$/m.exec(message) ?? [];
  if (file === undefined) return undefined;
  return { place: { file, line: Number(line), column: Number(column) + 1 }, text: `SyntaxError: ${text}` };
}

/** Reads the head of V8's stack: `/path/file.js:3`, the line itself, and carets below what it did not expect. */
function placeOfParseError(stack: string | undefined): SourcePlace | undefined {
  const [, file, line, indent] = /^(file:\/\/\S+|\/.+):(\d+)\n.*\n( *)\^+\n/.exec(stack ?? "") ?? [];
  return file === undefined ? undefined : { file: pathOf(file), line: Number(line), column: (indent ?? "").length + 1 };
}

/** For Node's `Cannot find package 'x' imported from /path/file.ts`: the line that names it. */
function placeOfMissingImport(message: string): SourcePlace | undefined {
  const [, wanted, importer] = /^Cannot find (?:package|module) '(.+?)' imported from (.+)$/m.exec(message) ?? [];
  if (wanted === undefined || importer === undefined) return undefined;
  const file = pathOf(importer);
  const lines = linesOf(file);
  const index = lines?.findIndex((line) => /["']/.test(line) && line.includes(basename(wanted))) ?? -1;
  return index < 0 ? undefined : { file, line: index + 1, column: (lines?.[index] ?? "").indexOf(basename(wanted)) + 1 };
}

/** The first frame below the author's folder, without packages. */
function placeInStack(stack: string | undefined, dir: string): SourcePlace | undefined {
  for (const frame of stack?.split("\n") ?? []) {
    // No path is longer than this. In a text of thousands of slashes the match would begin at each, and read to the end.
    const [, url, line, column] = /((?:file:\/\/)?\/[^()]+?):(\d+):(\d+)\)?$/.exec(frame.slice(-MAX_FRAME)) ?? [];
    if (url === undefined) continue;
    const file = pathOf(url);
    if (file.startsWith(`${dir}/`) && !file.includes("/node_modules/"))
      return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

function excerptAt({ file, line, column }: SourcePlace): string | undefined {
  const lines = linesOf(file);
  if (lines === undefined || line > lines.length) return undefined;
  const first = Math.max(1, line - LINES_AROUND);
  const last = Math.min(lines.length, line + LINES_AROUND);
  const width = String(last).length;
  const shown: string[] = [];
  for (let at = first; at <= last; at += 1) {
    const text = (lines[at - 1] ?? "").replaceAll("\t", " ");
    shown.push(
      `${at === line ? ">" : " "} ${String(at).padStart(width)} | ${sendableText(text, MAX_EXCERPT_LINE)}`.trimEnd(),
    );
    if (at === line && column <= MAX_EXCERPT_LINE) shown.push(`  ${" ".repeat(width)} | ${" ".repeat(column - 1)}^`);
  }
  return sendableText(shown.join("\n"), MAX_EXCERPT);
}

function linesOf(file: string): string[] | undefined {
  try {
    return readFileSync(file, "utf8").split(/\r?\n/);
  } catch {
    return undefined; // the place alone is enough
  }
}

const pathOf = (text: string): string =>
  text.startsWith("file://") ? fileURLToPath(text.replace(/\?.*$/, "")) : text.replace(/\?.*$/, "");
