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
      return Math.round(longestWithin(bystander.lines.map(lateOf), fromNs, toNs));
    },
    async end() {
      await bystander.kill("SIGKILL");
    },
  };
}

/** That it did not stamp for so long, until then. */
export interface Late {
  readonly atNs: bigint;
  readonly missedMs: number;
}

/** Of what it missed, the longest that lies between these moments: of a machine that stood still, it may be the last to go on. */
export function longestWithin(late: readonly Late[], fromNs: bigint, toNs: bigint): number {
  const withinMs = late.map(({ atNs, missedMs }) => {
    const beganNs = atNs - BigInt(Math.round(missedMs * 1e6));
    return Number((atNs < toNs ? atNs : toNs) - (beganNs > fromNs ? beganNs : fromNs)) / 1e6;
  });
  return withinMs.reduce((longest, ms) => Math.max(longest, ms), 0);
}

function lateOf(line: string): Late {
  const { atNs = "0", missedMs = 0 } = JSON.parse(line) as { atNs?: string; missedMs?: number };
  return { atNs: BigInt(atNs), missedMs };
}
