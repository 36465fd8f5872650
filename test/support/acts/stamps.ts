import { existsSync, readFileSync } from "node:fs";
import { actIn } from "./acts-file.ts";
import type { Act } from "./invariants.ts";

/** An act with what else the type `stamp` writes of it. */
export interface Stamp extends Act {
  name: string;
  serviceName: string;
  /** Counts up within a run. */
  n: number;
  /** Of a stop: the code of the signal's reason. */
  reason?: string;
}

/** Every complete line of the file so far; an observer that was killed may have left half a line. */
export function readStamps(file: string): Stamp[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => actIn(line) as Stamp);
}

/** Pairs of runs of one observer that acted at the same time, with how long in ms. */
export function overlaps(stamps: readonly Stamp[]): { observerId: string; runIds: [string, string]; ms: number }[] {
  const lives = new Map<string, { observerId: string; runId: string; from: bigint; to: bigint }>();
  for (const { observerId, runId, monotonicNs } of stamps) {
    const life = lives.get(runId) ?? { observerId, runId, from: monotonicNs, to: monotonicNs };
    lives.set(runId, { ...life, from: least(life.from, monotonicNs), to: most(life.to, monotonicNs) });
  }
  const all = [...lives.values()].sort((a, b) => (a.from < b.from ? -1 : 1));
  return all.flatMap((first, index) =>
    all
      .slice(index + 1)
      .filter((second) => second.observerId === first.observerId && second.from <= first.to)
      .map((second) => ({
        observerId: first.observerId,
        runIds: [first.runId, second.runId] as [string, string],
        ms: Number(least(first.to, second.to) - second.from) / 1e6,
      })),
  );
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
