import type { Command } from "commander";
import { ALL_FILTER_KEYS } from "./input/filters.ts";
import { findKind } from "./input/kinds.ts";

/** Words of other tools, and what they are here. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    disable: "pause",
    enable: "resume",
    events: "watch",
    info: "describe",
    kill: "stop",
    login: "config set-context",
    remove: "stop NAME, or delete KIND NAME",
    rm: "stop NAME, or delete KIND NAME",
    show: "describe",
    start: "create, or resume",
    status: "top, or get services",
    suspend: "pause",
    update: "change, or apply",
    version: "--version",
  }),
);

/**
 * What would be right, where commander says only what is wrong: a line, or none.
 * @param words the command as it is called
 * @param said commander's own words
 */
export function whatIsRight(command: Command, words: string, said: string): string | undefined {
  if (said.includes("(Did you mean")) return undefined;
  const [, unknown = ""] = /^error: unknown (?:command|option) '([^']*)'/.exec(said) ?? [];
  if (said.startsWith("error: unknown command")) return insteadOfCommand(command, unknown);
  if (said.startsWith("error: unknown option")) return didYouMean(insteadOfOption(command, unknown));
  const meant = didYouMean(insteadOfArgument(command));
  if (said.startsWith("error: too many arguments") && meant !== undefined) return meant;
  const isIncomplete = /^error: (?:missing required argument|required option|too many arguments)/.test(said);
  return isIncomplete ? `It is: ${words} ${command.usage()}${requiredOf(command)}${orStop(command)}` : undefined;
}

/** Whoever deletes without a kind mostly means an observer. */
const orStop = (command: Command): string => {
  const [given] = command.args;
  if (command.name() !== "delete" || given === undefined || findKind(given) !== undefined) return "";
  return `; to stop an observer: unacked stop ${given}`;
};

const didYouMean = (right: string | undefined): string | undefined => right && `(Did you mean ${right}?)`;

/** For a group it lists all commands; for the whole program it suggests the likely one. */
function insteadOfCommand(command: Command, unknown: string): string | undefined {
  const [word] = unknown.split(" ");
  if (command.parent === null) return didYouMean(OTHER_WORDS.get(word ?? ""));
  const kind = findKind(command.name());
  if (kind !== undefined && (word === "list" || word === "ls")) return didYouMean(`unacked get ${kind}`);
  if (kind === "schedules" && word === "delete") return didYouMean(`unacked delete ${kind}`);
  return `They are: ${command.commands.map((each) => each.name()).join(", ")}`;
}

function insteadOfOption(command: Command, unknown: string): string | undefined {
  const longs = command.options.flatMap(({ long }) => long ?? []);
  const [name = "", value = "VALUE"] = unknown.replace(/^-+/, "").split("=");
  if (longs.includes("--filter") && ALL_FILTER_KEYS.has(name)) return `--filter ${name}=${value}`;
  const params = command.registeredArguments.some((argument) => argument.name() === "params");
  if (params && /^(?:-p|--params?)(?:=|$)/.test(unknown))
    return `${valueOf(unknown, command.args)}, without ${unknown.split("=", 1)[0]}`;
  if (unknown === "-n") return longs.find((long) => long === "--limit" || long === "--tail");
  if (unknown === "-v") return command.parent === null ? "--version" : undefined;
  const [long = ""] = unknown.split("=");
  if (!long.startsWith("--")) return undefined;
  return longs.find((each) => each.startsWith(long) || long.startsWith(each));
}

/** The value that was given to an unknown option. */
function valueOf(unknown: string, args: readonly string[]): string {
  const equals = unknown.indexOf("=");
  return equals === -1 ? (args[args.indexOf(unknown) + 1] ?? "path=value") : unknown.slice(equals + 1);
}

/** An argument too many is mostly the value of an option that was left out. */
function insteadOfArgument({ args, registeredArguments, options }: Command): string | undefined {
  const excess = args[registeredArguments.length] ?? "";
  const has = (name: string): boolean => options.some(({ long }) => long === name);
  if (has("--param") && excess.includes("=")) return `--param ${excess}`;
  if (has("--in") && /^\d/.test(excess)) return `--in ${excess}`;
  return has("--filename") && /\.(?:ya?ml|json)$/.test(excess) ? `-f ${excess}` : undefined;
}

const requiredOf = ({ options }: Command): string =>
  options.flatMap(({ mandatory, flags }) => (mandatory ? ` ${flags}` : [])).join("");
