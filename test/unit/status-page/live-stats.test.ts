import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { STATS } from "../../../services/observer-manager/src/adapters/http/openapi/examples/overview-examples.ts";
import { LiveStats } from "../../../services/status-page/src/live/live-stats.ts";
import { refusal } from "../../support/browser/refusal.ts";

// Before the page's modules are loaded, whose client is for where their page came from.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1:8080/")));

type Answer = "read" | "away" | "never" | "in 30 s";

const page = Object.assign(new EventTarget(), { hidden: false });
let live: LiveStats;
/** When each read began, in seconds. */
let readAtS: number[];
/** What the next reads are answered; after the last of them that again and again. */
let answers: Answer[];

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  vi.stubGlobal("fetch", (_address: string, { signal }: { signal: AbortSignal }) => {
    readAtS.push(Math.round(Date.now() / 1_000));
    return answered(answers.length > 1 ? answers.shift() : answers[0], signal);
  });
  page.hidden = false;
  readAtS = [];
  live = new LiveStats(page);
});
afterEach(() => {
  live.stop();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function answered(answer: Answer | undefined, signal: AbortSignal): Promise<Response> {
  if (answer === "read") return Response.json(STATS);
  if (answer === "away") throw new TypeError("fetch failed");
  if (answer === "never")
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  const { body, ...init } = refusal("not-ready", "it starts", 30);
  return new Response(body, init);
}

function start(...given: Answer[]): Promise<unknown> {
  answers = given;
  live.start();
  return untilS(0);
}

/** What is due at that second has come. */
const untilS = (atS: number): Promise<unknown> => vi.advanceTimersByTimeAsync(atS * 1_000 + 100 - Date.now());

function look(isHidden: boolean): void {
  page.hidden = isHidden;
  page.dispatchEvent(new Event("visibilitychange"));
}

test("They are read every 2 s, and ever more rarely while that fails", async () => {
  await start("read", "read", "away");
  await untilS(40);
  expect(readAtS).toEqual([0, 2, 4, 8, 14, 22, 32]);
  expect(live.failure).toMatchObject({ code: "unreachable" });
});

test("What has failed is read at once when the manager is back; what has not, at its turn", async () => {
  await start("away", "away", "read");
  await untilS(6);
  live.retry();
  await untilS(7);
  expect(readAtS).toEqual([0, 4, 6]);
  expect(live).toMatchObject({ failure: null, stats: { observers: { total: STATS.observers.total } } });
  live.retry();
  await untilS(10);
  expect(readAtS).toEqual([0, 4, 6, 8, 10]);
});

test.each([
  ["first", ["never", "read"], [0], [0, 6, 8]],
  ["next", ["read", "never", "read"], [0, 2], [0, 2, 6, 8]],
  ["latest", ["away", "never", "read"], [0, 4], [0, 4, 6, 8]],
] as const)("The %s read, which hangs, is begun again when the manager is back", async (_, given, before, after) => {
  await start(...given);
  await untilS(6);
  expect(readAtS).toEqual(before);
  live.retry();
  await untilS(9);
  expect(readAtS).toEqual(after);
  expect(live.failure).toBeNull();
});

test("A manager that says when it wants to be asked again is asked no sooner", async () => {
  await start("in 30 s", "never", "read");
  await untilS(5);
  live.retry();
  look(false);
  await untilS(29);
  expect(readAtS).toEqual([0]);
  await untilS(33);
  live.retry(); // that time is over
  await untilS(34);
  expect(readAtS).toEqual([0, 30, 33]);
});

test("While nobody looks they are not read again, and at once when somebody does", async () => {
  await start("read");
  look(true);
  await untilS(61);
  expect(readAtS).toEqual([0]);
  look(false);
  await untilS(64);
  expect(readAtS).toEqual([0, 61, 63]);
});

test("Somebody who looks again need not wait for what has failed", async () => {
  await start("away", "away", "read");
  await untilS(7);
  look(false);
  await untilS(8);
  expect(readAtS).toEqual([0, 4, 7]);
});
