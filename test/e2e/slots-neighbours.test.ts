import type { ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { longestOverlapMs } from "../support/acts/invariants.ts";
import { eventually } from "../support/eventually.ts";
import { type Bystander, startBystander } from "../support/processes/bystander.ts";
import { FULL, shortOrFull } from "../support/runs/counts.ts";
import { inTurn } from "../support/runs/turns.ts";
import { type BesidePoison, besidePoison } from "../support/slots/beside-poison.ts";
import { POISON_ENV, POISONS, type Poison } from "../support/slots/poisons.ts";

const LASTS_MS = shortOrFull(0, 60_000);
const CALM_MS = shortOrFull(2_000, 5_000);
const STOP_TIMEOUT_MS = shortOrFull(2_000, 25_000);
const RETRY = { maxAttempts: 3, delaysMs: [500], resetAfterMs: 600_000 };
/** So long a neighbour in another slot may be held up beyond what the machine takes from everybody; and one in the same slot after its death. */
const ELSEWHERE_MS = 250;
const BACK_MS = 1_000;
/** For asking every so often, on a machine that does other things. */
const SLACK_MS = FULL ? 1_000 : 10_000;

const SHORT = ["a busy loop of 20 s", "a segmentation fault"];
const poisons = FULL ? POISONS : inTurn(POISONS.filter(({ what }) => SHORT.includes(what)));

describe.each(poisons)("beside $what", { timeout: 600_000 }, (poison) => {
  let bystander: Bystander;
  let scene: BesidePoison;

  beforeAll(async () => {
    bystander = await startBystander();
    const short = { STUCK_MS: "1000", STOP_TIMEOUT_MS: String(STOP_TIMEOUT_MS) };
    scene = await besidePoison(bystander, { ...POISON_ENV, ...poison.env, ...(!FULL && short) });
  }, 240_000);
  afterAll(async () => {
    await bystander?.end();
    await scene?.system.close();
  });

  it("no service ends, no lease is lost, no neighbour is held up for long, and its author knows", async () => {
    const { system } = scene;
    const [beganMs, beganNs] = [performance.now(), process.hrtime.bigint()];
    const { id } = await scene.create("poison", poison, RETRY);
    const fails = poison.fate !== "bearable";
    if (fails) await system.untilStatus([id], "Failed", 150_000);
    const failedMs = performance.now() - beganMs;
    const endedByThen = scene.deaths().length;
    await pass(Math.max(CALM_MS, LASTS_MS - failedMs));
    await scene.untilAllAct();

    const missed = scene.missed();
    const ended = scene.deaths().length;
    const observer = await system.get(id);
    const error = observer.lastError;
    const said = [
      `${poison.what}: ${fails ? `Failed after ${(failedMs / 1_000).toFixed(1)} s` : "never fails"}, ${ended} slots ended`,
      `neighbours elsewhere late by ${Math.round(missed.elsewhereMs)} ms beyond a bystander, which missed ${bystander.missedMs(beganNs, process.hrtime.bigint())} ms`,
      `beside it ${missed.timesBack} times begun again, at most ${Math.round(missed.backMs)} ms after the death, else late by ${Math.round(missed.besideMs)} ms`,
      fails ? `${poison.fate}: ${error?.name}` : poison.fate,
    ].join("; ");
    console.log(said);
    expect(scene.deaths().slice(endedByThen), "all is calm once it has Failed").toEqual([]);
    if (poison.fate === "refused" || poison.fate === "bearable") expect(ended).toBe(0);
    if (poison.fate === "refused") expect(missed.besideMs).toBeLessThanOrEqual(ELSEWHERE_MS);
    expect(missed.elsewhereMs, said).toBeLessThanOrEqual(ELSEWHERE_MS);
    expect(missed.backMs, said).toBeLessThanOrEqual(BACK_MS);
    expect(longestOverlapMs(scene.acts())).toBe(0);
    await scene.expectServicesUnharmed();
    if (fails) await expectNamed(poison, observer);
    expect(scene.companyAfterGuilt(id)).toEqual([]);
    await system.check();
  });

  async function expectNamed({ words, fate }: Poison, { name, lastError, attempts }: ObserverView): Promise<void> {
    expect(`${lastError?.name}: ${lastError?.message}`).toMatch(words as RegExp);
    expect(attempts).toBe(RETRY.maxAttempts);
    if (fate !== "found") expect(lastError?.stack).toContain("poison.ts");
    const told = scene.lines(fate === "refused" ? "observer-error" : "slot-gone").join("\n");
    expect(told).toContain(name);
    if (fate === "refused") return;
    await eventually(async () => {
      const { warnings } = await scene.system.stats();
      expect(warnings.find(({ code }) => code === "slots-die")?.remedy).toContain(name);
    });
  }

  it("DELETE ends it in STOP_TIMEOUT_MS and a second, with force at once, and nothing of it acts afterwards", async () => {
    const { system } = scene;
    const endless = { maxAttempts: "unlimited", delaysMs: [100], resetAfterMs: 600_000 };
    const [stopped, forced] = await Promise.all([
      scene.create("stopped", poison, endless),
      scene.create("forced", poison, endless),
    ]);
    await Promise.all([stopped, forced].map(({ id }) => scene.untilAtIt(id, poison)));
    const askedMs = performance.now();
    await Promise.all([stopped, forced].map(({ id }) => scene.delete(id)));
    const byForceMs = performance.now();
    await scene.delete(forced.id, "?force=true");
    await system.untilStatus([forced.id], "Deleted");
    const forceMs = performance.now() - byForceMs;
    await system.untilStatus([stopped.id], "Deleted", STOP_TIMEOUT_MS + 10_000);
    const stopMs = performance.now() - askedMs;
    const deletedNs = process.hrtime.bigint();
    await scene.untilDeletedAreGone(STOP_TIMEOUT_MS + 10_000);
    const goneNs = process.hrtime.bigint();
    const goneMs = performance.now() - byForceMs;
    console.log(
      `${poison.what}: Deleted after ${Math.round(stopMs)} ms; by force after ${Math.round(forceMs)} ms, both gone after ${Math.round(goneMs)} ms`,
    );
    await pass(1_000);
    expect(Math.max(stopMs, goneMs)).toBeLessThan(STOP_TIMEOUT_MS + 1_000 + SLACK_MS);
    expect(forceMs).toBeLessThan(SLACK_MS);
    expect(scene.lastActNs(stopped.id)).toBeLessThan(deletedNs);
    expect(scene.lastActNs(forced.id)).toBeLessThan(goneNs);
    await scene.untilAllAct();
    await scene.expectServicesUnharmed();
  });
});

/** What is tried is that nothing happens meanwhile. */
const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
