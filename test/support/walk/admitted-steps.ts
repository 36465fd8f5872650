import fc from "fast-check";

/** What befalls observers that are admitted, save, and take changes as they run. Pure: a seed gives the same steps. */
export type AdmittedStep = { pauseMs: number } & (
  | { kind: "create" }
  | { kind: "delete" | "pause" | "resume" | "restart"; pick: number }
  | { kind: "change"; pick: number; answer: "applied" | "restart" | "rejected" | "throws" }
  | { kind: "silence"; pick: number; warnAfterMs: number }
  | { kind: "kill-service" | "kill-slot" | "reset-wire"; pick: number }
  | { kind: "kill-manager" }
  /** A service of the version before comes, or is killed where it is there. */
  | { kind: "old-service" }
  /** An old message comes late, as it was. */
  | { kind: "replay"; what: (typeof REPLAYED)[number]; pick: number }
);

export const REPLAYED = ["RunRequested", "Admit", "UpdateRuns", "RunUpdated", "CheckpointSaved"] as const;

const ms = (min: number, max: number) => fc.noBias(fc.integer({ min, max }));
const pick = ms(0, 9_999).map((each) => each / 10_000);
const step = (kind: AdmittedStep["kind"], more: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ kind: fc.constant(kind), pauseMs: ms(20, 300), ...more }) as fc.Arbitrary<AdmittedStep>;

const answer = fc.constantFrom("applied", "applied", "applied", "restart", "rejected", "throws");
const ONWARD = [
  { weight: 8, arbitrary: step("change", { pick, answer }) },
  { weight: 1, arbitrary: step("silence", { pick, warnAfterMs: ms(1_000, 60_000) }) },
  { weight: 2, arbitrary: step("restart", { pick }) },
  { weight: 3, arbitrary: step("kill-service", { pick }) },
  { weight: 2, arbitrary: step("kill-slot", { pick }) },
  { weight: 2, arbitrary: step("kill-manager") },
  { weight: 1, arbitrary: step("reset-wire", { pick }) },
  { weight: 5, arbitrary: step("replay", { what: fc.constantFrom(...REPLAYED), pick }) },
];
const COMING_AND_GOING = [
  { weight: 2, arbitrary: step("create") },
  { weight: 2, arbitrary: step("delete", { pick }) },
  { weight: 3, arbitrary: step("pause", { pick }) },
  { weight: 3, arbitrary: step("resume", { pick }) },
];

const OF_BEFORE = [{ weight: 3, arbitrary: step("old-service") }];

/**
 * @param keepsAll none is created, deleted or paused: what an older dump knows is what runs
 * @param withOld a service of the version before is built
 */
export function admittedSteps(
  seed: number,
  count: number,
  { keepsAll, withOld }: { keepsAll: boolean; withOld: boolean },
): AdmittedStep[] {
  const one = fc.oneof(...ONWARD, ...(keepsAll ? [] : COMING_AND_GOING), ...(withOld ? OF_BEFORE : []));
  const all = fc.array(one, { minLength: count, maxLength: count, size: "max" });
  return fc.sample(all, { seed, numRuns: 1 })[0] ?? [];
}
