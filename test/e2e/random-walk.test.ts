import { afterEach, beforeEach, describe, it } from "vitest";
import { isInTurns } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { RandomWalk } from "../support/walk/random-walk.ts";
import { MAX_OVERLAP_MS } from "../support/walk/walk-model.ts";
import { walkSteps } from "../support/walk/walk-steps.ts";

const WALKS = isInTurns ? 1 : 3;
const STEPS = 20;
/** `WALK_SEED=1234 npm test -- test/e2e/random-walk` walks again where it went wrong. */
const firstSeed = Number(process.env.WALK_SEED ?? Date.now() % 1_000_000);

describe("a random walk", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
  });
  afterEach(() => system.close());

  it("through creates, stops, restarts, kills and cut wires leaves every observer where it has to be", async () => {
    const steps: string[] = [];
    const walk = new RandomWalk({ system, onStep: (what) => steps.push(what) });
    await walk.begin();
    for (let i = 0; i < WALKS; i += 1) {
      const seed = firstSeed + i;
      steps.push(`-- seed ${seed}`);
      try {
        for (const step of walkSteps(seed, STEPS)) await walk.take(step);
        await walk.settle({ maxOverlapMs: MAX_OVERLAP_MS, maxLateActs: 0 });
      } catch (error) {
        throw new Error(`WALK_SEED=${firstSeed}, after:\n${steps.join("\n")}\n${String(error)}`, { cause: error });
      }
    }
    const observers = await system.listObservers();
    console.log(`WALK_SEED=${firstSeed}: ${WALKS} walks of ${STEPS} steps, ${observers.length} observers`);
    system.reportOverlap("random walk", observers);
  }, 300_000);
});
