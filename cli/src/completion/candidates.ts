import type { Command, Option } from "commander";

/** What can stand at the cursor: words to offer, or things whose names are to be asked for. */
export interface Candidates {
  words: string[];
  /** The things whose names may stand here, too. */
  names?: "observers" | "services" | "types" | "params" | "contexts" | "files" | undefined;
  /** The options of all commands on the line so far. They say which manager is asked. */
  given: Record<string, string>;
  /** The arguments before the cursor. That of `create` is the type whose params are asked for. */
  operands: string[];
}

/** What may be written as a command's argument. `before` holds the arguments before it. */
export type ArgumentRule = (before: string[]) => Pick<Candidates, "words" | "names">;

export interface CompletionRules {
  /** The key is `command` or `command subcommand`. */
  arguments: Readonly<Record<string, ArgumentRule>>;
  /** The key is the long name, `--context`, or for one command alone `cancel --filter`. */
  optionValues: Readonly<Record<string, ArgumentRule>>;
}

/** `typed` holds the words after `unacked`. The last one is being typed, and may be empty. */
export function findCandidates(program: Command, typed: string[], rules: CompletionRules): Candidates {
  const current = typed.at(-1) ?? "";
  const place = walk(program, typed.slice(0, -1));
  const { given, operands } = place;
  const so = { given, operands };
  if (place.awaiting !== undefined) return { ...valuesOf(place.awaiting, place, rules), ...so };
  if (current.startsWith("-")) return { words: optionWords([program, ...place.path]), ...so };
  const command = place.path.at(-1) ?? program;
  if (command.commands.length > 0) return { words: subcommandWords(command), ...so };
  const rule = rules.arguments[nameOf(place)];
  return { ...(rule?.(operands) ?? { words: [] }), ...so };
}

const nameOf = ({ path }: Place): string => path.map((each) => each.name()).join(" ");

interface Place {
  /** The commands so far, without the program itself. */
  path: Command[];
  operands: string[];
  given: Record<string, string>;
  /** The option whose value comes next. */
  awaiting?: Option | undefined;
}

function walk(program: Command, words: string[]): Place {
  const place: Place = { path: [], operands: [], given: {} };
  for (const word of words) {
    if (place.awaiting !== undefined) {
      place.given[place.awaiting.attributeName()] = word;
      place.awaiting = undefined;
    } else if (word.startsWith("-")) takeOption(place, word, [program, ...place.path]);
    else {
      const command = (place.path.at(-1) ?? program).commands.find((each) => each.name() === word);
      if (command === undefined) place.operands.push(word);
      else place.path.push(command);
    }
  }
  return place;
}

function takeOption(place: Place, word: string, commands: Command[]): void {
  const equals = word.indexOf("=");
  const flag = equals === -1 ? word : word.slice(0, equals);
  const option = optionsOf(commands).find((each) => each.long === flag || each.short === flag);
  if (option === undefined || !(option.required || option.optional)) return;
  if (equals === -1) place.awaiting = option;
  else place.given[option.attributeName()] = word.slice(equals + 1);
}

function valuesOf(option: Option, place: Place, { optionValues }: CompletionRules): ReturnType<ArgumentRule> {
  if (option.argChoices !== undefined) return { words: option.argChoices };
  const long = option.long ?? "";
  const rule = optionValues[`${nameOf(place)} ${long}`] ?? optionValues[long];
  return rule?.(place.operands) ?? { words: [] };
}

const optionsOf = (commands: Command[]): Option[] =>
  commands.flatMap((command) => command.createHelp().visibleOptions(command));

const optionWords = (commands: Command[]): string[] => [...new Set(optionsOf(commands).flatMap(({ long }) => long ?? []))];

const subcommandWords = (command: Command): string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name());
