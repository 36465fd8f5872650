import { expect, test } from "vitest";
import { meaningfulLines } from "../../scripts/start/log-lines.mjs";

test("of a program that failed, its warnings and errors are shown in words, not its chatter", () => {
  const lines = [
    JSON.stringify({ level: 30, msg: "starting" }),
    JSON.stringify({ level: 50, msg: "cannot connect", err: { message: "ECONNREFUSED" } }),
    "",
    "a plain line",
  ];
  expect(meaningfulLines(lines)).toEqual(["cannot connect: ECONNREFUSED", "a plain line"]);
});

test("a program that logged no error is shown by its last lines", () => {
  const lines = ["one", "two", "three"].map((msg) => JSON.stringify({ level: 30, msg }));
  expect(meaningfulLines(lines, 2)).toEqual(["two", "three"]);
});
