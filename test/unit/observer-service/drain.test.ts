import { expect, test } from "vitest";
import { Drain } from "../../../services/observer-service/src/keeper/intake/drain.ts";
import type { Log } from "../../../services/observer-service/src/log.ts";

/** A service whose runs settle when the test says so. */
function serviceWith(unsettled: string[]) {
  const events: string[] = [];
  const steps: string[] = [];
  const told = ({ event }: { event: string }) => void events.push(event);
  const log = { info: told, error: told } as unknown as Log;
  const drain = new Drain({
    intake: { drain: () => {}, goOn: () => {} },
    tasks: { drain: async () => {}, cordon: async () => {}, goOn: async () => {} },
    runner: {
      stopAll: ({ kind }) => void steps.push(`stop all: ${kind}`),
      idle: () => new Promise<void>(() => {}),
      unsettled: () => unsettled,
      runs: { size: unsettled.length } as never,
    },
    work: { close: async (why) => void steps.push(`close: ${why}`), open: async () => {} },
    tell: () => {},
    log,
  });
  return { drain, events, steps };
}

test("A drain stops every run, once nothing is consumed any more: the broker would hand what they give back straight here", async () => {
  const { drain, steps } = serviceWith([]);
  await drain.run("told", 1);
  expect(steps).toEqual(["close: drain", "stop all: draining"]);
});

test("A drain that is taken back while its consumer closes, and a cordon, stop nothing", async () => {
  const { drain, steps } = serviceWith(["btc"]);
  const draining = drain.run("told", 1);
  await drain.goOn();
  await draining;
  await drain.cordon();
  expect(steps).toEqual(["close: drain", "close: cordon"]);
});

test("A drain names what did not stop in time", async () => {
  const { drain, events } = serviceWith(["btc"]);
  await drain.run("told", 100);
  expect(events).toEqual(["draining", "drained-without"]);
});

test("A drain that was taken back says nothing of what runs since, also where another one has begun", async () => {
  const { drain, events } = serviceWith(["eth"]);
  const first = drain.run("told", 200);
  await drain.goOn();
  const second = drain.run("told again", 400);
  await first;
  expect(events).toEqual(["draining", "uncordoned", "draining"]);
  await second;
  expect(events.at(-1)).toBe("drained-without");
});
