import { expect, test } from "vitest";
import { Drain } from "../../../services/observer-service/src/keeper/intake/drain.ts";
import type { Log } from "../../../services/observer-service/src/log.ts";

/** A service whose runs settle when the test says so. */
function serviceWith(unsettled: string[]) {
  const events: string[] = [];
  const told = ({ event }: { event: string }) => void events.push(event);
  const log = { info: told, error: told } as unknown as Log;
  const drain = new Drain({
    intake: { drain: () => {}, goOn: () => {} },
    tasks: { drain: async () => {}, cordon: async () => {}, goOn: async () => {} },
    runner: {
      stopAll: () => {},
      idle: () => new Promise<void>(() => {}),
      unsettled: () => unsettled,
      runs: { size: unsettled.length } as never,
    },
    work: { close: async () => {}, open: async () => {} },
    tell: () => {},
    log,
  });
  return { drain, events };
}

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
