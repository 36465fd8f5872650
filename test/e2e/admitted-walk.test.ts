import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtRelease, isHere, RELEASES, type Release } from "../support/messages/releases.ts";
import { type Bystander, startBystander } from "../support/processes/bystander.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { quantile } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { admittedSteps } from "../support/walk/admitted-steps.ts";
import { AdmittedWalk } from "../support/walk/admitted-walk.ts";

const WALKS = proves("changes") ? 6 : 1;
const STEPS = proves("changes") ? 40 : 20;
const release = RELEASES.at(-1) as Release;
/** In `npm test` mixed-fleet has one beside new services. */
const WITH_OLD = proves("changes") && isHere(release);
/** `WALK_SEED=1234 npm test -- test/e2e/admitted-walk` walks again where it went wrong. */
const firstSeed = Number(process.env.WALK_SEED ?? Date.now() % 1_000_000);

describe("a random walk of observers that are admitted, save, and are changed as they run", () => {
  let system: System;
  let bystander: Bystander;

  beforeEach(async () => {
    // Late connections are no dead ones.
    system = await freshSystem({ heartbeatS: 10 });
    bystander = await startBystander();
  });
  afterEach(async () => {
    await bystander.end();
    await system.close();
  });

  it.runIf(isTurnOf(0))(
    "never repeats a fencing token, never starts one below what it had saved, an older dump of the books included",
    async () => {
      const random = fc.sample(fc.noBias(fc.double({ min: 0, max: 0.999, noNaN: true })), {
        seed: firstSeed,
        numRuns: 10_000,
      });
      let next = 0;
      const oldRoot = WITH_OLD ? builtRelease(release) : undefined;
      const walk = new AdmittedWalk(system, bystander, () => random[next++ % random.length] ?? 0, oldRoot);
      const steps: string[] = [];
      try {
        await walk.begin();
        for (let i = 0; i < WALKS; i += 1) {
          steps.push(`-- seed ${firstSeed + i}`);
          const go = async (keepsAll: boolean) => {
            const seed = firstSeed + i + (keepsAll ? 500_000 : 0);
            for (const step of admittedSteps(seed, STEPS, { keepsAll, withOld: WITH_OLD })) {
              steps.push(JSON.stringify(step));
              await walk.take(step);
            }
            await walk.settle();
          };
          await go(false);
          await walk.changeAllInCalm();
          steps.push("dump");
          await walk.dump();
          await walk.settle();
          await go(true);
          steps.push("restore");
          await walk.restore();
          await walk.killAllInTurn();
          await walk.changeAllInCalm();
          await system.check({ timeoutMs: 90_000 });
        }
      } catch (error) {
        throw new Error(`WALK_SEED=${firstSeed}, after:\n${steps.join("\n")}\n${String(error)}`, { cause: error });
      } finally {
        await walk.end();
        await walk.dropDump();
      }
      const saves = walk.saves();
      const starts = saves.filter(({ kind }) => kind === "given").length;
      expect(starts).toBeGreaterThan(20);
      const done = [...walk.done].map(([what, count]) => `${what} ${count}`).join(", ");
      console.log(
        `WALK_SEED=${firstSeed}: ${WALKS} walks of ${2 * STEPS} steps, a restore each; ${done}; ${starts} starts, ${saves.length - starts} checkpoints; ${walk.gone} whose run was gone before restored books were told of it; away after a change in the calm, beyond what a bare process missed: ${walk.away.length} turns, p99 ${quantile(walk.away, 0.99).toFixed(0)} ms, at most ${Math.max(...walk.away).toFixed(0)} ms`,
      );
    },
    3_000_000,
  );
});
