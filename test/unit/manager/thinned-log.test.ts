import { PublishError } from "@unacked/broker";
import { newMessageId } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { logIdleConnectionLost } from "../../../services/observer-manager/src/adapters/postgres/connection/typeorm-log.ts";
import { Loop } from "../../../services/observer-manager/src/operations/loop.ts";
import { ThinnedLog } from "../../../services/observer-manager/src/operations/thinned-log.ts";
import { keptLog } from "../../support/servers/books.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const AWAY = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });

let kept: ReturnType<typeof keptLog>;
let log: ThinnedLog;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  kept = keptLog();
  log = new ThinnedLog(kept);
});
afterEach(() => void vi.useRealTimers());

const countsTold = () => kept.lines.map(({ fields }) => ("failures" in fields ? fields.failures : 1));

describe("what fails again and again", () => {
  test("is told a few times, with how often and since when, and each minute; what fails otherwise at once", async () => {
    const errors: Error[] = [];
    const loop = new Loop({
      round: () => Promise.reject(errors.shift() ?? AWAY),
      failed(error) {
        log.warn({ err: error }, "nothing could be done, trying again");
        return SECOND_MS;
      },
    });
    const since = new Date().toISOString();
    loop.start();
    await vi.advanceTimersByTimeAsync(99 * SECOND_MS);
    expect(countsTold()).toEqual([1, 2, 4, 8, 16, 32, 64]);
    expect(kept.lines[0]?.fields).toEqual({ err: AWAY });
    expect(kept.lines.at(-1)).toEqual({
      level: "warn",
      fields: { err: AWAY, failures: 64, since },
      message: "nothing could be done, trying again",
    });

    const other = Object.assign(new Error("no space left on device"), { code: "53100" });
    errors.push(other);
    await vi.advanceTimersByTimeAsync(SECOND_MS);
    expect(kept.lines.at(-1)?.fields).toEqual({ err: other });

    kept.lines.length = 0;
    await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
    await loop.end();
    expect(kept.lines.length).toBeGreaterThanOrEqual(60);
    expect(kept.lines.length).toBeLessThan(75);
  });

  test("is told anew once it has not failed for a minute", async () => {
    const fail = () => log.error({ err: AWAY }, "failed");
    for (let i = 0; i < 3; i += 1) fail();
    vi.advanceTimersByTime(MINUTE_MS - 1);
    fail();
    vi.advanceTimersByTime(MINUTE_MS);
    fail();
    expect(countsTold()).toEqual([1, 2, 4, 1]);
  });

  test("is one thing for each that it is about, and each sentence; how many it was about makes no difference", () => {
    for (let i = 0; i < 3; i += 1) {
      log.warn({ err: AWAY, pool: "fast", messages: i }, "failed");
      log.warn({ err: AWAY, pool: "slow", messages: i }, "failed");
      log.warn({ err: AWAY, pool: "slow", messages: i }, "failed, too");
    }
    expect(countsTold()).toEqual([1, 1, 1, 2, 2, 2]);
  });

  test("is the same, whichever message it was that could not be sent", () => {
    for (let i = 0; i < 100; i += 1) {
      const err = new PublishError("nacked", newMessageId(), "The broker could not take the message");
      log.warn({ kind: "start", count: 1, err }, "a command could not be sent yet");
    }
    expect(countsTold()).toEqual([1, 2, 4, 8, 16, 32, 64]);
  });

  test("is the same where an error is told by its fields, as it comes from the database", () => {
    const lost = logIdleConnectionLost(log);
    for (let i = 0; i < 100; i += 1) lost(AWAY);
    expect(countsTold()).toEqual([1, 2, 4, 8, 16, 32, 64]);
    expect(kept.lines[0]?.fields).toEqual({ error: "Error", code: "ECONNREFUSED", message: AWAY.message });
  });

  test("takes no memory without end where each error has a text of its own", () => {
    const fail = (i: number) => log.warn({ err: new Error(`no row ${i}`) }, "failed");
    for (let i = 0; i < 2_000; i += 1) fail(i);
    fail(1_999);
    fail(0); // so long ago that it is forgotten
    expect(countsTold().slice(2_000)).toEqual([2, 1]);
  });
});

test("what is no failure is told each time", () => {
  for (let i = 0; i < 3; i += 1) {
    log.debug({ err: AWAY }, "a detail");
    log.info({ event: "born" }, "born");
    log.warn({ event: "caller-refused" }, "a caller was refused");
    log.error({ event: "queue-refused" }, "refused");
  }
  expect(kept.lines).toHaveLength(12);
});
