import type { TypeView } from "@unacked/contracts";
import { Argument, type Command } from "commander";
import { UnackedApi } from "../client/api.ts";
import { type Candidates, findCandidates } from "../completion/candidates.ts";
import { COMPLETION_RULES } from "../completion/rules.ts";
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from "../completion/scripts.ts";
import { contextFilePath, readContextFile } from "../config/context-file.ts";
import { chooseAddress, tlsFilesOf } from "../config/contexts.ts";
import type { Io } from "../io.ts";
import { plainLines } from "../output/plain-text.ts";

/** The hidden command that the shells' scripts call. */
export const COMPLETE = "__complete";
/** Nobody waits longer than this for a completion. */
const TIMEOUT_MS = 1_500;
const MAX_NAMES = 200;
/**
 * Words that a shell takes literally. Whoever announces a type names its params, and bash's compgen expands what it is given:
 * `$(…)` in a name would run when somebody presses Tab.
 */
const PLAIN_WORD = /^[\p{L}\p{M}\p{N}_.,:@%+=/-]*$/u;

export function addCompletion(program: Command, io: Io): void {
  program
    .command("completion")
    .summary("completion for a shell")
    .description("Print the script that completes commands, options and names. The script's first lines say how to load it.")
    .addArgument(new Argument("<shell>").choices([...SHELLS]))
    .action((shell: Shell) => io.out(COMPLETION_SCRIPTS[shell]));
  program
    .command(COMPLETE, { hidden: true })
    .argument("[words...]")
    .action(async (words: string[]) => {
      const candidates = findCandidates(program, words, COMPLETION_RULES);
      const current = words.at(-1) ?? "";
      const names = await findNames(io, candidates, current).catch(() => []); // nothing to offer is no error
      const fitting = [...candidates.words, ...names].filter((word) => word.startsWith(current) && PLAIN_WORD.test(word));
      io.out(plainLines(fitting));
      if (candidates.names === "files") io.out(":files\n");
    });
}

async function findNames(io: Io, { names, given, operands }: Candidates, current: string): Promise<string[]> {
  const file = readContextFile(contextFilePath(io.env));
  if (names === "contexts") return Object.keys(file.contexts);
  if (names === undefined || names === "files") return [];
  const { url, token, tls } = chooseAddress(file, { ...given, tls: tlsFilesOf(given), env: io.env });
  const api = new UnackedApi({ url, token, tls }, { timeoutMs: TIMEOUT_MS });
  if (names === "observers") return observerNames(api, current);
  if (names === "params") return paramsOf((await api.call("listTypes", {})).items, operands[0]);
  const { items: services } = await api.call("listServices", {});
  return names === "services" ? services.map(({ name }) => name) : [...new Set(services.flatMap(({ types }) => types))];
}

/** Offers `everyMs=`, or for a param with a few values those: `mode=fast`. */
function paramsOf(types: TypeView[], type: string | undefined): string[] {
  const { paramsSchema } = types.find((each) => each.type === type) ?? {};
  const { properties = {} } = (paramsSchema ?? {}) as { properties?: Record<string, { enum?: unknown[]; type?: unknown }> };
  return Object.entries(properties).flatMap(([name, schema]) => {
    const values = schema.type === "boolean" ? [true, false] : (schema.enum ?? [""]);
    return values.map((value) => `${name}=${String(value)}`);
  });
}

async function observerNames(api: UnackedApi, current: string): Promise<string[]> {
  const found: string[] = [];
  for await (const page of api.pages("listObservers", current === "" ? {} : { q: current }, MAX_NAMES))
    found.push(...page.filter(({ status }) => status !== "Deleted").map(({ name }) => name));
  return found;
}
