import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ObserverView, SPEC_FIELD_NAMES } from "@unacked/contracts";
import type { Command } from "commander";
import { parseDocument } from "yaml";
import { CliFailure } from "../failure.ts";
import { yamlValue } from "../input/exact-numbers.ts";
import type { Io } from "../io.ts";
import { yamlText } from "../output/document-text.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { changeOf, sendChange } from "./change.ts";

export function addEdit(program: Command, io: Io): void {
  program
    .command("edit")
    .summary("change an observer in your editor")
    .description(
      "Open params, labels, retry, pool and silence of an observer as YAML in your editor (VISUAL, else EDITOR, else vi). What you save is applied, as with change; if you change nothing, nothing is sent. If somebody else changes it meanwhile, nothing is done and your text is kept.",
    )
    .argument("<name>", "its name or id")
    .option("--queue", "when moved to another pool: wait in its queue if no worker is free, instead of being refused")
    .option("--dry-run", "only say what would be changed; exit code 6 if something would be")
    .action((name: string, options: { queue?: boolean; dryRun?: boolean }, self: Command) =>
      edit(openSession(io, self), name, options),
    );
}

async function edit(session: Session, ref: string, options: { queue?: boolean; dryRun?: boolean }): Promise<void> {
  const observer = await session.api.call("getObserver", { path: { ref } });
  const folder = mkdtempSync(join(tmpdir(), "unacked-edit-"));
  const file = join(folder, `${observer.name.replaceAll(":", "_")}.yaml`);
  const before = textOf(observer);
  writeFileSync(file, before, { mode: 0o600 });
  await keepingText({ folder, file, before }, async () => {
    openEditor(session.io, file);
    const after = readFileSync(file, "utf8");
    if (after === before) session.io.out(plainLine(`observer ${observer.name} unchanged (nothing was edited)`));
    else await sendChange(session, observer, changeOf(observer, toYaml(after)), options);
  });
}

const textOf = (observer: ObserverView): string =>
  plainLine(
    `# ${observer.name}, as it is wanted (version ${observer.specVersion}). Save it and leave; unchanged, nothing is done.`,
  ) + yamlText(Object.fromEntries(SPEC_FIELD_NAMES.map((field) => [field, observer[field]])));

function openEditor({ env }: Io, file: string): void {
  const editor = env["VISUAL"] || env["EDITOR"] || "vi";
  // A shell runs the editor, as "code --wait" is more than a program's name.
  const command = `trap : INT QUIT; ${editor} "$1"`;
  const { status, error } = leftToTheEditor(() => spawnSync("sh", ["-c", command, "sh", file], { stdio: "inherit", env }));
  if (error !== undefined || status !== 0)
    throw new CliFailure("failed", `The editor (${editor}) ended with ${error?.message ?? `code ${status}`}`, {
      remedy: "Nothing was sent. Set EDITOR to the editor that you use.",
    });
}

const OF_THE_TERMINAL = ["SIGINT", "SIGQUIT"] as const;

/**
 * Ignores Ctrl-C, which is a command in many editors. The terminal sends it to us and the shell as well, and ending would lose what is
 * written.
 */
function leftToTheEditor<Result>(act: () => Result): Result {
  const ignore = (): void => undefined;
  for (const signal of OF_THE_TERMINAL) process.on(signal, ignore);
  try {
    return act();
  } finally {
    for (const signal of OF_THE_TERMINAL) process.off(signal, ignore);
  }
}

interface Draft {
  folder: string;
  file: string;
  before: string;
}

/** Keeps the text after a refusal or a dry run. Otherwise the folder is removed, as there may be secrets in it. */
async function keepingText({ folder, file, before }: Draft, act: () => Promise<void>): Promise<void> {
  let isKept = false;
  try {
    await act();
  } catch (error) {
    isKept = existsSync(file) && readFileSync(file, "utf8") !== before;
    if (!isKept || !(error instanceof CliFailure)) throw error;
    throw error.withRemedy(`Your text is in ${file}`);
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
}

function toYaml(text: string): unknown {
  try {
    const document = parseDocument(text);
    if (document.errors[0] !== undefined) throw document.errors[0];
    return yamlValue(document);
  } catch (error) {
    throw new CliFailure("usage", `It is not YAML, or cannot be sent: ${(error as Error).message}`, {
      remedy: "Nothing was sent.",
    });
  }
}
