import { flow } from "@unacked/client";
import { defineTask } from "@unacked/sdk";
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

const copy = defineTask({
  type: "copy",
  params: z.strictObject({ text: z.string() }),
  output: z.object({ text: z.string() }),
  run: async ({ params }) => params,
});
const tell = defineTask({ type: "tell", params: z.strictObject({}), inputs: { s59: copy }, run: async () => null });

it("A flow of sixty steps in a row compiles, and is looked at to its last", () => {
  const plan = flow([...CHAIN, { ref: "last", task: tell, after: ["s59"] }]);
  expect(plan.steps).toHaveLength(61);
  expectTypeOf(plan.steps[60].ref).toEqualTypeOf<"last">();
  // @ts-expect-error: it is to be given what s59 returns, and comes after another
  flow([...CHAIN, { ref: "last", task: tell, after: ["s58"] }]);
});

const CHAIN = [
  { ref: "s0", task: copy, params: { text: "a" } },
  { ref: "s1", task: copy, params: { text: "a" }, after: ["s0"] },
  { ref: "s2", task: copy, params: { text: "a" }, after: ["s1"] },
  { ref: "s3", task: copy, params: { text: "a" }, after: ["s2"] },
  { ref: "s4", task: copy, params: { text: "a" }, after: ["s3"] },
  { ref: "s5", task: copy, params: { text: "a" }, after: ["s4"] },
  { ref: "s6", task: copy, params: { text: "a" }, after: ["s5"] },
  { ref: "s7", task: copy, params: { text: "a" }, after: ["s6"] },
  { ref: "s8", task: copy, params: { text: "a" }, after: ["s7"] },
  { ref: "s9", task: copy, params: { text: "a" }, after: ["s8"] },
  { ref: "s10", task: copy, params: { text: "a" }, after: ["s9"] },
  { ref: "s11", task: copy, params: { text: "a" }, after: ["s10"] },
  { ref: "s12", task: copy, params: { text: "a" }, after: ["s11"] },
  { ref: "s13", task: copy, params: { text: "a" }, after: ["s12"] },
  { ref: "s14", task: copy, params: { text: "a" }, after: ["s13"] },
  { ref: "s15", task: copy, params: { text: "a" }, after: ["s14"] },
  { ref: "s16", task: copy, params: { text: "a" }, after: ["s15"] },
  { ref: "s17", task: copy, params: { text: "a" }, after: ["s16"] },
  { ref: "s18", task: copy, params: { text: "a" }, after: ["s17"] },
  { ref: "s19", task: copy, params: { text: "a" }, after: ["s18"] },
  { ref: "s20", task: copy, params: { text: "a" }, after: ["s19"] },
  { ref: "s21", task: copy, params: { text: "a" }, after: ["s20"] },
  { ref: "s22", task: copy, params: { text: "a" }, after: ["s21"] },
  { ref: "s23", task: copy, params: { text: "a" }, after: ["s22"] },
  { ref: "s24", task: copy, params: { text: "a" }, after: ["s23"] },
  { ref: "s25", task: copy, params: { text: "a" }, after: ["s24"] },
  { ref: "s26", task: copy, params: { text: "a" }, after: ["s25"] },
  { ref: "s27", task: copy, params: { text: "a" }, after: ["s26"] },
  { ref: "s28", task: copy, params: { text: "a" }, after: ["s27"] },
  { ref: "s29", task: copy, params: { text: "a" }, after: ["s28"] },
  { ref: "s30", task: copy, params: { text: "a" }, after: ["s29"] },
  { ref: "s31", task: copy, params: { text: "a" }, after: ["s30"] },
  { ref: "s32", task: copy, params: { text: "a" }, after: ["s31"] },
  { ref: "s33", task: copy, params: { text: "a" }, after: ["s32"] },
  { ref: "s34", task: copy, params: { text: "a" }, after: ["s33"] },
  { ref: "s35", task: copy, params: { text: "a" }, after: ["s34"] },
  { ref: "s36", task: copy, params: { text: "a" }, after: ["s35"] },
  { ref: "s37", task: copy, params: { text: "a" }, after: ["s36"] },
  { ref: "s38", task: copy, params: { text: "a" }, after: ["s37"] },
  { ref: "s39", task: copy, params: { text: "a" }, after: ["s38"] },
  { ref: "s40", task: copy, params: { text: "a" }, after: ["s39"] },
  { ref: "s41", task: copy, params: { text: "a" }, after: ["s40"] },
  { ref: "s42", task: copy, params: { text: "a" }, after: ["s41"] },
  { ref: "s43", task: copy, params: { text: "a" }, after: ["s42"] },
  { ref: "s44", task: copy, params: { text: "a" }, after: ["s43"] },
  { ref: "s45", task: copy, params: { text: "a" }, after: ["s44"] },
  { ref: "s46", task: copy, params: { text: "a" }, after: ["s45"] },
  { ref: "s47", task: copy, params: { text: "a" }, after: ["s46"] },
  { ref: "s48", task: copy, params: { text: "a" }, after: ["s47"] },
  { ref: "s49", task: copy, params: { text: "a" }, after: ["s48"] },
  { ref: "s50", task: copy, params: { text: "a" }, after: ["s49"] },
  { ref: "s51", task: copy, params: { text: "a" }, after: ["s50"] },
  { ref: "s52", task: copy, params: { text: "a" }, after: ["s51"] },
  { ref: "s53", task: copy, params: { text: "a" }, after: ["s52"] },
  { ref: "s54", task: copy, params: { text: "a" }, after: ["s53"] },
  { ref: "s55", task: copy, params: { text: "a" }, after: ["s54"] },
  { ref: "s56", task: copy, params: { text: "a" }, after: ["s55"] },
  { ref: "s57", task: copy, params: { text: "a" }, after: ["s56"] },
  { ref: "s58", task: copy, params: { text: "a" }, after: ["s57"] },
  { ref: "s59", task: copy, params: { text: "a" }, after: ["s58"] },
] as const;
