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

const awayLine = JSON.stringify({
  level: "error",
  url: "amqp://guest:***@127.0.0.1:1",
  detail: "connect ECONNREFUSED 127.0.0.1:1",
  remedy: "Start RabbitMQ.",
  msg: "cannot connect to the broker; trying again",
});

test("levels are names, too; why and what to do stand beside the message, and what is said six times is told once", () => {
  const fatal = JSON.stringify({ level: "fatal", msg: "cannot start" });
  const chatter = Array.from({ length: 6 }, (_, n) => JSON.stringify({ level: "info", msg: `step ${n}` }));
  expect(meaningfulLines([fatal, ...Array(6).fill(awayLine), ...chatter])).toEqual([
    "cannot start",
    "cannot connect to the broker; trying again: connect ECONNREFUSED 127.0.0.1:1 (amqp://guest:***@127.0.0.1:1). Start RabbitMQ.",
  ]);
});
