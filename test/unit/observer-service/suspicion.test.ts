import { expect, test } from "vitest";
import { judge } from "../../../services/observer-service/src/keeper/slots/blame/suspicion.ts";

/** Slots die as long as the culprit is among those in them; the others are halved until it is alone. */
function roundsToFind(culprit: string, observers: readonly string[]): number {
  let group = { members: observers, roundsLeft: undefined as number | undefined };
  for (let rounds = 1; ; rounds += 1) {
    const verdict = judge(group.members, group.roundsLeft);
    if (verdict.kind === "guilty") {
      expect(verdict.observer).toBe(culprit);
      return rounds;
    }
    if (verdict.kind === "given-up") throw new Error(`given up after ${rounds} rounds`);
    expect(verdict.groups.flatMap(({ members }) => members).toSorted()).toEqual([...group.members].toSorted());
    const next = verdict.groups.find(({ members }) => members.includes(culprit));
    if (next === undefined) throw new Error("nobody has the culprit");
    group = next;
  }
}

test.each([1, 2, 3, 10, 100, 4_097])("one culprit among %i is found in as many rounds as halving takes", (count) => {
  const observers = Array.from({ length: count }, (_, i) => `observer-${i}`);
  for (const culprit of [observers[0], observers[Math.floor(count / 2)], observers.at(-1)])
    expect(roundsToFind(culprit ?? "", observers)).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + 1);
});

test("a search that finds nobody ends, and says so", () => {
  let group = { members: ["a", "b"] as readonly string[], roundsLeft: undefined as number | undefined };
  const kinds: string[] = [];
  for (let rounds = 0; rounds < 10; rounds += 1) {
    const verdict = judge(group.members, group.roundsLeft);
    kinds.push(verdict.kind);
    if (verdict.kind !== "split") break;
    // Both die together each time: as if it took the two of them.
    group = { members: ["a", "b"], roundsLeft: verdict.groups[0].roundsLeft };
  }
  expect(kinds).toEqual(["split", "split", "split", "split", "given-up"]);
});
