import { expect, test } from "vitest";
import { Question } from "../../../services/status-page/src/live/question.ts";

/** Each call is answered when the test says so; what is told of it is what nobody has broken off. */
function asked() {
  const question = new Question();
  const begun: string[] = [];
  const told: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (text: string | null, name: string): void =>
    question.ask(text, async (signal) => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (!signal.aborted) told.push(name);
    });
  const answer = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { ask, answer, begun, told };
}

test("An answer that takes longer than the time between two looks is told, and nothing else is asked for meanwhile", async () => {
  const { ask, answer, begun, told } = asked();
  ask("tasks", "first look");
  for (const look of ["second look", "third look"]) ask("tasks", look);
  expect(begun).toEqual(["first look"]);
  await answer();
  expect(told).toEqual(["first look"]);
  expect(begun).toEqual(["first look", "third look"]);
});

test("Another question waits for none, and what was asked before is told to nobody", async () => {
  const { ask, answer, begun, told } = asked();
  ask("tasks", "all");
  ask("tasks that failed", "failed");
  expect(begun).toEqual(["all", "failed"]);
  await answer();
  await answer();
  expect(told).toEqual(["failed"]);
});

test("What nobody asks for any more is told to nobody", async () => {
  const { ask, answer, told } = asked();
  ask("tasks", "all");
  ask(null, "nothing");
  await answer();
  expect(told).toEqual([]);
});
