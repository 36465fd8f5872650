import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../processes/processes.ts";

export interface Stage {
  name: string;
  /** A stage's name or an image's, `${ARG}` resolved. */
  from: string;
  instructions: { name: string; text: string }[];
}

/** The stages of the Dockerfile, in order: continued lines joined, comments left out. */
export function readDockerfile(): Stage[] {
  const text = readFileSync(join(ROOT, "Dockerfile"), "utf8")
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n/g, " ");
  const stages: Stage[] = [];
  const args = new Map<string, string>();
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const [, name = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (name === "FROM") {
      const [, from = "", stage = ""] = /^(\S+)\s+AS\s+(\S+)$/.exec(rest) ?? [];
      stages.push({
        name: stage,
        from: from.replace(/\$\{(\w+)\}/, (_, arg: string) => args.get(arg) ?? ""),
        instructions: [],
      });
    } else if (stages.length === 0 && name === "ARG") {
      const [arg = "", value = ""] = rest.split("=");
      args.set(arg, value);
    } else {
      stages.at(-1)?.instructions.push({ name, text: rest });
    }
  }
  return stages;
}

/** Of an image: its own instructions after those of every stage that it is made from. */
export function instructionsOf(target: string, stages = readDockerfile()): Stage["instructions"] {
  const stage = stages.find((each) => each.name === target);
  if (stage === undefined) throw new Error(`the Dockerfile has no stage ${target}`);
  const inherited = stages.some((each) => each.name === stage.from) ? instructionsOf(stage.from, stages) : [];
  return [...inherited, ...stage.instructions];
}

/** `ENV` of an image. */
export function environmentOf(target: string): Record<string, string> {
  const pairs = instructionsOf(target)
    .filter(({ name }) => name === "ENV")
    .flatMap(({ text }) => text.split(/\s+/));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

export function lastOf(target: string, instruction: string): string | undefined {
  return instructionsOf(target).findLast(({ name }) => name === instruction)?.text;
}
