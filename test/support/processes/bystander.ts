import { join } from "node:path";
import { temporaryFolder } from "../servers/servers.ts";
import { startProcess } from "./processes.ts";

/** A bare process that stamps beside a system: no promise in milliseconds can hold any better than the machine runs it. */
export interface Bystander {
  /** The longest that it did not stamp although it should have, in ms, between these moments of the monotonic clock. */
  missedMs(fromNs: bigint, toNs: bigint): number;
  end(): Promise<void>;
}

export async function startBystander(): Promise<Bystander> {
  const file = join(temporaryFolder("bystander"), "stamps.jsonl");
  const bystander = startProcess({ file: "test/fixtures/bystander.mjs", args: [file], name: "bystander" });
  await bystander.waitForEvent("stamping");
  return {
    missedMs(fromNs, toNs) {
      const late = bystander.lines.map(lateOf).filter(({ atNs }) => atNs >= fromNs && atNs <= toNs);
      return Math.round(late.reduce((longest, { missedMs }) => Math.max(longest, missedMs), 0));
    },
    async end() {
      await bystander.kill("SIGKILL");
    },
  };
}

function lateOf(line: string): { atNs: bigint; missedMs: number } {
  const { atNs = "0", missedMs = 0 } = JSON.parse(line) as { atNs?: string; missedMs?: number };
  return { atNs: BigInt(atNs), missedMs };
}
