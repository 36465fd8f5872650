import { readFileSync } from "node:fs";
import type { z } from "zod";
import { describeSettings, type SettingDescription } from "./load-settings.ts";

/** What a program that takes only settings says about itself. */
export interface ProgramWords {
  readonly program: string;
  /** The program's purpose, in one sentence. */
  readonly does: string;
  readonly settings: z.ZodObject;
  readonly version: string;
}

/** The exit code for a wrong setting or word: a restart does not help, somebody has to change something. */
export const EXIT_CANNOT_START = 2;

/** Of the package of a program. @param main its `import.meta.url`: in `src/`, `dist/` or `bundle/` */
export function ownVersion(main: string): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", main), "utf8")) as { version: string };
  return version;
}

/**
 * Answers `--help`, `--version` and unknown words, on standard output or standard error, with the exit code. False without
 * words: then the program goes on.
 */
export function isAnswered(words: readonly string[], program: ProgramWords): boolean {
  const [word] = words;
  if (word === undefined) return false;
  if (word === "--help" || word === "-h") process.stdout.write(programHelp(program));
  else if (word === "--version") process.stdout.write(`${program.version}\n`);
  else {
    process.stderr.write(`${program.program} takes no ${word}: everything is a setting. See ${program.program} --help\n`);
    process.exitCode = EXIT_CANNOT_START;
  }
  return true;
}

/** The program's purpose, and every setting with its default and meaning. */
function programHelp({ program, does, settings }: ProgramWords): string {
  return `Usage: ${program} [--help | --version]

${does}

Settings are read from the environment, or from a YAML or JSON file of NAME: value lines that CONFIG_FILE names; the
environment wins.

${describeSettings(settings).map(settingHelp).join("\n")}
`;
}

function settingHelp({ name, description, defaultValue, required }: SettingDescription): string {
  const fallback = required ? " (required)" : defaultValue === undefined ? "" : ` (default: ${defaultValue})`;
  return `  ${name}${fallback}\n      ${plain(description)}`;
}

/** Removes Markdown, as descriptions are written for docs/settings.md. */
const plain = (markdown: string): string => markdown.replaceAll("`", "").replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
