import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** From when to when a task of the type `span` ran, on the clock that all processes share. */
export interface Span {
  taskId: string;
  fromNs: bigint;
  toNs: bigint;
  /** Which params it had. */
  version: number;
}

/** All that were written into this folder. */
export function readSpans(dir: string): Span[] {
  const files = readdirSync(dir).filter((name) => name.startsWith("span-"));
  const lines = files.flatMap((file) => readFileSync(join(dir, file), "utf8").split("\n"));
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const [taskId = "", from = "", to = "", version = ""] = line.split(" ");
      return { taskId, fromNs: BigInt(from), toNs: BigInt(to), version: Number(version) };
    });
}

/** How many of these there were at one time. */
export function mostAtOnce(spans: Span[]): number {
  const changes = spans.flatMap(({ fromNs, toNs }) => [
    { ns: fromNs, by: 1 },
    { ns: toNs, by: -1 },
  ]);
  let [now, most] = [0, 0];
  for (const { by } of changes.toSorted((a, b) => (a.ns === b.ns ? a.by - b.by : a.ns < b.ns ? -1 : 1))) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
