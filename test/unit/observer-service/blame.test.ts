import { expect, test } from "vitest";
import { Blame } from "../../../services/observer-service/src/keeper/slots/blame/blame.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";

const newBlame = () => new Blame(createLog("silent"), () => undefined);

test("who was in a slot that grew is nobody's suspect", () => {
  const blame = newBlame();
  blame.noteMishap("growth", ["a", "b", "c"], 0);
  for (const one of ["a", "b", "c"]) expect(blame.apartOf(one)).toBeUndefined();
});

test("who was in two is a suspect: several are halved", () => {
  const blame = newBlame();
  blame.noteMishap("growth", ["a", "b", "c"], 0);
  blame.noteMishap("growth", ["a", "b", "x"], 1_000);
  expect(blame.apartOf("a")).toMatchObject({ kind: "suspects", group: { members: ["a"] } });
  expect(blame.apartOf("b")).toMatchObject({ kind: "suspects", group: { members: ["b"] } });
  expect(blame.apartOf("x")).toBeUndefined();
});

test("a single one is only kept by itself: it need not be what grew, and does not wait for a slot of its own", () => {
  const blame = newBlame();
  blame.noteMishap("growth", ["a", "b", "c"], 0);
  blame.noteMishap("growth", ["a", "x", "y"], 1_000);
  expect(blame.isGuilty("a")).toBe(false);
  expect(blame.apartOf("a")).toMatchObject({ kind: "suspects", group: { members: ["a"] } });
});

test("what was long ago counts for nobody", () => {
  const blame = newBlame();
  blame.noteMishap("growth", ["a", "b"], 0);
  blame.noteMishap("growth", ["a", "b"], 600_001);
  expect(blame.apartOf("a")).toBeUndefined();
});

test("who is alone when its slot dies did it", () => {
  const blame = newBlame();
  blame.noteMishap("growth", ["a", "b"], 0);
  blame.noteMishap("growth", ["a", "x"], 1_000);
  expect(blame.suspect(["a"])).toEqual({ kind: "guilty", observer: "a" });
  expect(blame.apartOf("a")).toEqual({ kind: "alone", observerId: "a" });
});

test("what happens to a slot in which nothing runs, too, the files do by themselves: nobody is suspected of it for a while, whoever was there", () => {
  const blame = newBlame();
  blame.noteByItself("growth", 0);
  blame.noteMishap("growth", ["a", "b"], 1_000);
  blame.noteMishap("growth", ["a", "b"], 2_000);
  expect(blame.apartOf("a")).toBeUndefined();
  blame.noteMishap("growth", ["a", "b"], 600_001);
  expect(blame.apartOf("a")).toMatchObject({ kind: "suspects" });
});

test("nor is who was suspected of it before, and their slots are everybody's again; of what else they are suspected they stay so", () => {
  const lapsed: number[] = [];
  const blame = new Blame(createLog("silent"), ({ members }) => void lapsed.push(members.length));
  for (const what of ["growth", "unowned-error"] as const)
    for (const nowMs of [0, 10_000]) blame.noteMishap(what, [`a-${what}`, `b-${what}`], nowMs);
  expect(blame.suspects).toBe(4);
  blame.noteByItself("unowned-error", 11_000);
  expect(["a-growth", "a-unowned-error"].map((one) => blame.isSuspect(one))).toEqual([true, false]);
  expect([blame.suspects, lapsed]).toEqual([2, [1, 1]]);
});

test("each kind of mishap is counted for itself", () => {
  const blame = newBlame();
  blame.noteMishap("growth", ["a"], 0);
  blame.noteMishap("unowned-error", ["a"], 1_000);
  expect(blame.apartOf("a")).toBeUndefined();
});

test("a death of two groups that had to share a slot is no round, but the search ends where that goes on", () => {
  const blame = newBlame();
  const both = ["a", "b"];
  const deaths = (from: number, times: number) =>
    Array.from({ length: times }, (_, i) => blame.suspect(both, from + i * 1_000).kind);
  expect(new Set(deaths(0, 100))).toEqual(new Set(["split"]));
  const later = deaths(200_000, 10);
  expect(later).toContain("given-up");
});

test("what is alone in between counts for itself: the next ones that share a slot have their time again", () => {
  const blame = newBlame();
  blame.suspect(["a", "b", "c", "d"], 0);
  blame.suspect(["a", "b", "c", "d"], 0);
  blame.suspect(["a", "b"], 200_000);
  for (let i = 0; i < 20; i += 1) expect(blame.suspect(["a", "b"], 210_000 + i).kind).toBe("split");
});
