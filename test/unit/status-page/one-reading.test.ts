import { expect, test } from "vitest";
import { OneReading } from "../../../services/status-page/src/live/one-reading.ts";

test("What is asked for during a reading is read after it, once, as it was asked for last", async () => {
  const read: string[] = [];
  const ends: (() => void)[] = [];
  const reading = new OneReading();
  const ask = (what: string) =>
    reading.ask(() => {
      read.push(what);
      return new Promise((resolve) => ends.push(resolve));
    });
  const end = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  for (const what of ["first", "second", "third"]) ask(what);
  expect(read).toEqual(["first"]);
  await end();
  expect(read).toEqual(["first", "third"]);
  await end();
  ask("fourth");
  expect(read).toEqual(["first", "third", "fourth"]);
});
