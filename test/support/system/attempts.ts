import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What slots have written of their tasks, a line an attempt: by task, how often it ran. */
export function attemptsIn(dir: string): Map<string, number> {
  const runs = new Map<string, number>();
  for (const file of readdirSync(dir))
    for (const id of readFileSync(join(dir, file), "utf8").split("\n")) if (id !== "") runs.set(id, (runs.get(id) ?? 0) + 1);
  return runs;
}
