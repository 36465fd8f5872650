import { QueueMissingError, type Session } from "@unacked/broker";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LeaseKeeper } from "../../../services/observer-service/src/keeper/lease/lease-keeper.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";

const HEARTBEAT_MS = 10_000;
const lostByOwner = { kind: "ended-by-owner", detail: "" } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A keeper with one session, whose proofs are answered as `answer` says, and one handler that settles on demand. */
async function keeperWith(answer: () => Promise<unknown>, log = createLog("silent"), firstTakesMs = 0) {
  let settle: () => void = () => undefined;
  let isSettled = false;
  const settled = new Promise<void>((resolve) => {
    settle = () => {
      isSettled = true;
      resolve();
    };
  });
  const endForCertain = vi.fn((_generation: number) => false);
  const heldUntil = vi.fn((_deadlineMs: number | undefined, _graceMs: number) => undefined);
  const unsettled = () => (isSettled ? [] : ["slow"]);
  const runs = { fence: vi.fn(), unsettled, settled: () => settled, endForCertain, heldUntil };
  const exit = vi.fn();
  const end = vi.fn();
  let answers = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, firstTakesMs));
  const lost = new AbortController().signal;
  const session = { generation: 1, heartbeatMs: HEARTBEAT_MS, lost, end } as unknown as Session;
  const answered: { sentAtMs: number; tookMs: number }[] = [];
  const keeper = new LeaseKeeper({
    runs,
    exit,
    onAnswer: (told) => void answered.push(told),
    log,
    nowMs: () => Date.now(),
  });
  const begun = keeper.begin(session, () => answers());
  await vi.advanceTimersByTimeAsync(firstTakesMs);
  await begun;
  answers = answer;
  return { keeper, session, runs, exit, end, settle, answered };
}

const never = () => new Promise<void>(() => undefined);

describe("the keeper of the lease", () => {
  test("lets the runs go on while proofs are answered", async () => {
    const { runs, keeper } = await keeperWith(async () => undefined);
    await vi.advanceTimersByTimeAsync(20 * HEARTBEAT_MS);
    expect(runs.fence).not.toHaveBeenCalled();
    expect([keeper.holds(1), keeper.holds(2)]).toEqual([true, false]);
  });

  test("proves at once when it is asked to, one proof at a time, and tells how long each answer took", async () => {
    let proofs = 0;
    const slowly = () => {
      proofs += 1;
      return new Promise((resolve) => setTimeout(resolve, 700));
    };
    const { keeper, answered } = await keeperWith(slowly);
    const beganMs = Date.now();
    for (let i = 0; i < 3; i += 1) keeper.proveNow();
    expect(proofs).toBe(1);
    await vi.advanceTimersByTimeAsync(700);
    expect(answered).toEqual([{ sentAtMs: beganMs, tookMs: 700, heartbeatMs: HEARTBEAT_MS }]);
    // The next by itself a third of a heartbeat after that, and not also at the time of the one that was brought forward.
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS / 3 - 1);
    expect(proofs).toBe(1);
    await vi.advanceTimersByTimeAsync(2);
    expect(proofs).toBe(2);
    keeper.retire();
    keeper.proveNow();
    expect(proofs).toBe(2);
  });

  test("does not hurry after a proof that was refused: the next comes in its time", async () => {
    let proofs = 0;
    const refused = () => {
      proofs += 1;
      return Promise.reject(new Error("no"));
    };
    const { keeper, answered } = await keeperWith(refused);
    keeper.proveNow();
    await vi.advanceTimersByTimeAsync(1);
    for (let i = 0; i < 3; i += 1) keeper.proveNow();
    expect([proofs, answered]).toEqual([1, []]);
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS / 3);
    expect(proofs).toBe(2);
  });

  test.each([
    ["are not answered", never],
    ["are answered with an error", () => Promise.reject(new Error("no"))],
  ])("fences 1.5 heartbeats after the last answered proof when proofs %s", async (_how, answer) => {
    const { runs, keeper } = await keeperWith(answer);
    await vi.advanceTimersByTimeAsync(1.5 * HEARTBEAT_MS - 1);
    expect(runs.fence).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(runs.fence).toHaveBeenCalledOnce();
    expect(keeper.holds(1)).toBe(false);
  });

  test("counts from when a proof was sent, however late its answer comes", async () => {
    const { runs } = await keeperWith(() => new Promise((resolve) => setTimeout(resolve, HEARTBEAT_MS)));
    await vi.advanceTimersByTimeAsync(1.5 * HEARTBEAT_MS);
    expect(runs.fence).not.toHaveBeenCalled();
    // Sent at 1/3 of a heartbeat; the next one, sent at 5/3, would be answered only at 8/3.
    await vi.advanceTimersByTimeAsync((1 / 3) * HEARTBEAT_MS + 1);
    expect(runs.fence).toHaveBeenCalledOnce();
  });

  test("counts from when the first proof was sent, too, however late its answer comes", async () => {
    const { runs, keeper } = await keeperWith(never, createLog("silent"), HEARTBEAT_MS);
    expect([keeper.holds(1), runs.heldUntil.mock.lastCall?.[0]]).toEqual([true, Date.now() + HEARTBEAT_MS / 2]);
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS / 2 - 1);
    expect(runs.fence).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(runs.fence).toHaveBeenCalledOnce();
  });

  test("holds nothing where the first proof is answered after its deadline: others may have begun by then", async () => {
    const { keeper } = await keeperWith(never, createLog("silent"), 1.5 * HEARTBEAT_MS);
    expect(keeper.holds(1)).toBe(false);
  });

  test("bears a broker that says nothing for one heartbeat", async () => {
    let answer: () => Promise<unknown> = async () => undefined;
    const { runs } = await keeperWith(() => answer());
    await vi.advanceTimersByTimeAsync(10 * HEARTBEAT_MS);
    const stalled = new Promise((resolve) => setTimeout(resolve, HEARTBEAT_MS));
    answer = () => stalled;
    await vi.advanceTimersByTimeAsync(10 * HEARTBEAT_MS);
    expect(runs.fence).not.toHaveBeenCalled();
  });

  test("fences once, and ends the session, when the broker has taken its messages back", async () => {
    const { keeper, runs, end, settle } = await keeperWith(async () => undefined);
    keeper.takenBack(2);
    expect(runs.fence).not.toHaveBeenCalled();
    keeper.takenBack(1);
    keeper.takenBack(1);
    expect(runs.fence).toHaveBeenCalledOnce();
    expect([keeper.holds(1), end.mock.calls.length]).toEqual([false, 0]);
    settle();
    await vi.advanceTimersByTimeAsync(1);
    expect(end).toHaveBeenCalledOnce();
  });

  test("fences at once when the queue is gone that its messages are of, also where it is there again before the deadline", async () => {
    let isThere = false;
    const { keeper, runs, end, settle } = await keeperWith(async () => {
      if (!isThere) throw new QueueMissingError("work", new Error("NOT_FOUND"));
    });
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS / 3 + 1);
    isThere = true;
    await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS);
    expect(runs.fence).toHaveBeenCalledOnce();
    expect([keeper.holds(1), end.mock.calls.length]).toEqual([false, 0]);
    settle();
    await vi.advanceTimersByTimeAsync(1);
    expect(end).toHaveBeenCalledOnce();
  });

  test("asks for the proof that was named last", async () => {
    const { keeper, session, runs } = await keeperWith(async () => undefined);
    keeper.proveBy(session, never);
    await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS);
    expect(runs.fence).toHaveBeenCalledOnce();
  });

  test("fences when it is asked, if the event loop was blocked past the deadline", async () => {
    const { runs, keeper } = await keeperWith(async () => undefined);
    vi.setSystemTime(Date.now() + 3 * HEARTBEAT_MS);
    expect(keeper.holds(1)).toBe(false);
    expect(runs.fence).toHaveBeenCalledOnce();
  });

  test("fences also where its log throws", async () => {
    const log = createLog("silent");
    vi.spyOn(log, "error").mockImplementation(() => {
      throw new Error("ENOSPC");
    });
    const { runs, keeper } = await keeperWith(never, log);
    expect(() => keeper.takenBack(1)).toThrow("ENOSPC");
    expect(runs.fence).toHaveBeenCalledOnce();
  });

  test("ends the session only when no handler runs any more", async () => {
    const { end, exit, settle } = await keeperWith(never);
    await vi.advanceTimersByTimeAsync(1.8 * HEARTBEAT_MS);
    expect(end).not.toHaveBeenCalled();
    settle();
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
    expect(end).toHaveBeenCalledOnce();
    expect(exit).not.toHaveBeenCalled();
  });

  test("ends the process when a handler still runs 0.4 heartbeats after the fence", async () => {
    const { exit } = await keeperWith(never);
    await vi.advanceTimersByTimeAsync(1.9 * HEARTBEAT_MS - 1);
    expect(exit).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
  });

  test("fences at once when the session is lost, and tells when the handlers have settled", async () => {
    const { runs, keeper, settle } = await keeperWith(async () => undefined);
    let isTold = false;
    const told = keeper.sessionLost(1, lostByOwner).then(() => (isTold = true));
    expect(runs.fence).toHaveBeenCalledOnce();
    expect(keeper.holds(1)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isTold).toBe(false);
    settle();
    await told;
  });

  test("does not care about the loss of another generation, nor of one that it retired", async () => {
    const { runs, keeper } = await keeperWith(async () => undefined);
    await keeper.sessionLost(2, lostByOwner);
    keeper.retire();
    await keeper.sessionLost(1, lostByOwner);
    expect(runs.fence).not.toHaveBeenCalled();
  });
});
