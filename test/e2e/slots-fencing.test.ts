import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bystander, startBystander } from "../support/processes/bystander.ts";
import { type RunningProcess, startProcess } from "../support/processes/processes.ts";
import { FULL, shortOrFull } from "../support/runs/counts.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { BELOW, type Below, type Doing, FencedPair } from "../support/system/fenced-pair.ts";
import { FAULTS, type Fault, HEARTBEAT_S, type Round, round } from "../support/system/fencing-faults.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const DOING: Doing[] = ["idle", "endless-loop", "exec-sync"];
/** Of each fault with each doing, on each of the pairs, which run at the same time. */
const ROUNDS = shortOrFull(1, 4);
const CASES = (Object.keys(FAULTS) as Fault[]).flatMap((fault) => DOING.map((doing) => ({ fault, doing })));
/** Each fault, and each doing; the others only by `npm run prove -- slots`. */
const SHORT = CASES.filter((_, i) => [1, 2, 4, 6, 11, 13].includes(i));

const canBelow = (below: Below): boolean => {
  const [command, ...args] = BELOW[below];
  return command === undefined || spawnSync(command, [...args, "true"], { stdio: "ignore" }).status === 0;
};

const SETS = [
  { below: "like any process", pairs: shortOrFull(1, 2), rounds: ROUNDS, cases: FULL ? CASES : inTurn(SHORT) },
  { below: "as PID 1", pairs: 1, rounds: 1, cases: FULL ? CASES : CASES.filter((_, i) => i === 5 && isTurnOf(1)) },
  { below: "below an init", pairs: 1, rounds: 1, cases: FULL ? CASES : [] },
] as const;

describe.skipIf(process.platform !== "linux").each(SETS.filter(({ cases }) => cases.length > 0))(
  "slots of a service that runs $below do not outlive its lease",
  { timeout: 480_000 },
  (set) => {
    let system: System;
    let bystander: Bystander;
    let pairs: FencedPair[] = [];
    let opened = 0;
    let load: RunningProcess[] = [];
    const isPossible = canBelow(set.below);
    if (!isPossible && set.cases.length > 0)
      console.warn(`skipped: no service can run ${set.below} here (${BELOW[set.below].join(" ")})`);

    beforeAll(async () => {
      if (!isPossible || set.cases.length === 0) return;
      system = await freshSystem({ heartbeatS: HEARTBEAT_S, env: { SLOTS: "2" } });
      await system.startManager();
      bystander = await startBystander();
      pairs = await openPairs();
      // Endless, on one core: the other is for all of this.
      if (FULL) load = [startProcess({ file: "-e", args: ["for (;;);"], name: "load" })];
    }, 240_000);
    afterAll(async () => {
      for (const each of load) await each.kill("SIGKILL");
      await bystander?.end();
      await system?.close();
    });

    it.skipIf(!isPossible).each(set.cases)("$fault, while they are $doing", async ({ fault, doing }) => {
      system.forgetActsBefore(process.hrtime.bigint());
      if (pairs.length === 0) pairs = await openPairs();
      const trying = pairs;
      pairs = []; // what fails in the middle leaves them as nobody knows
      const rounds = (await Promise.all(trying.map((pair) => several(pair, fault, doing)))).flat();
      pairs = trying;
      console.log(`${fault}, ${doing}, ${set.below}: ${told(rounds)}`);
      for (const { overlapMs, boundMs, goneMs = 0, goneBoundMs, besidePredecessor } of rounds) {
        expect(overlapMs).toBeLessThanOrEqual(boundMs);
        expect(goneMs).toBeLessThanOrEqual(goneBoundMs);
        expect(besidePredecessor).toBe(0);
      }
    });

    function openPairs(): Promise<FencedPair[]> {
      return Promise.all(
        Array.from({ length: set.pairs }, () => {
          opened += 1;
          return new FencedPair(system, `pair-${opened}`, set.below).open();
        }),
      );
    }

    async function several(pair: FencedPair, fault: Fault, doing: Doing): Promise<Round[]> {
      const rounds: Round[] = [];
      while (rounds.length < set.rounds) rounds.push(await round(pair, bystander, fault, doing));
      return rounds;
    }
  },
);

function told(rounds: readonly Round[]): string {
  const most = (of: (round: Round) => number | undefined) => Math.round(Math.max(...rounds.map((each) => of(each) ?? 0)));
  const gone = rounds.some(({ goneMs }) => goneMs !== undefined)
    ? `slots gone after ${(most(({ goneMs }) => goneMs) / 1_000 / HEARTBEAT_S).toFixed(2)} heartbeats at most`
    : "slots live on without a run";
  return `${rounds.length} rounds; overlap ${most(({ overlapMs }) => overlapMs)} ms at most, a bystander missed ${most(({ missedMs }) => missedMs)} ms; ${gone}`;
}
