import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../processes/processes.ts";

export interface DocExample {
  /** The heading that it stands under. */
  heading: string;
  script: string;
  /** What it prints, where the page shows that: a `text` block right behind. */
  printed?: string | undefined;
}

/** The shell examples of a page, in order. */
export function examplesOf(page: string): DocExample[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const examples: DocExample[] = [];
  let heading = "";
  const parts = /^#+ (?<heading>.+)$|^```(?<language>\w+)\n(?<block>[\s\S]*?)^```$/gm;
  for (const { groups = {} } of text.matchAll(parts)) {
    const last = examples.at(-1);
    if (groups.heading !== undefined) heading = groups.heading;
    else if (groups.language === "sh") examples.push({ heading, script: groups.block ?? "" });
    else if (groups.language === "text" && last?.heading === heading) last.printed = groups.block;
  }
  return examples;
}
