import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  TaskRetention,
  type TaskRetentionParts,
} from "../../../services/observer-manager/src/operations/tasks/upkeep/task-retention.ts";
import { Dying, deathsIn } from "../../support/ports/dying.ts";

const EVERY_MS = 3_600_000;
const STEPS = ["makeAhead", "forgetOld", "dropOlderThan", "forget", "forgetGone"] as const;
type Step = (typeof STEPS)[number];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What there is to do for each step: days to be made, and of all else what is too old. More than goes at once. */
class Rows {
  readonly left = new Map<Step, number>(STEPS.map((step) => [step, 3_000]));
  /** How often each was asked for. */
  readonly asked = new Map<Step, number>(STEPS.map((step) => [step, 0]));
  failing: Step | undefined;

  /** @returns how many went of `limit` at most */
  async do(step: Step, limit = Number.POSITIVE_INFINITY): Promise<number> {
    this.asked.set(step, (this.asked.get(step) ?? 0) + 1);
    if (step === this.failing) throw new Error("too long");
    const left = this.left.get(step) ?? 0;
    this.left.set(step, left - Math.min(left, limit));
    return Math.min(left, limit);
  }

  get undone(): Step[] {
    return STEPS.filter((step) => this.left.get(step) !== 0);
  }
}

function retentionOf(rows: Rows, process?: Dying): TaskRetention {
  const store = {
    makeAhead: async () => void (await rows.do("makeAhead")),
    dropOlderThan: async () => ((await rows.do("dropOlderThan")) > 0 ? ["a day"] : []),
    forgetOld: (limit: number) => rows.do("forgetOld", limit),
    forget: (_olderThanMs: number, limit: number) => rows.do("forget", limit),
    forgetGone: (limit: number) => rows.do("forgetGone", limit),
  } satisfies Record<Step, unknown>;
  const port = process?.port(store) ?? store;
  const parts: Pick<TaskRetentionParts, "days" | "figures" | "requests" | "services"> = {
    days: port,
    figures: port,
    requests: port,
    services: port,
  };
  return new TaskRetention({
    ...parts,
    retentionMs: 1_000_000,
    log: { info() {}, warn() {}, error() {}, debug() {} } as never,
  });
}

async function roundOnce(rows: Rows, process?: Dying): Promise<void> {
  const retention = retentionOf(rows, process);
  retention.start();
  await vi.advanceTimersByTimeAsync(1_000);
  void retention.stop();
}

vi.useFakeTimers();
const deaths = await deathsIn((process) => roundOnce(new Rows(), process));
vi.useRealTimers();

describe("a retention of tasks", () => {
  it.each(deaths)("that dies $when $step ($at) leaves the rest to its successor's first round", async ({ at, when }) => {
    const rows = new Rows();
    const process = new Dying(at, when);
    await roundOnce(rows, process);
    await process.died;
    await roundOnce(rows);
    expect(rows.undone).toEqual([]);
  });

  it.each(STEPS)("goes on with all else where %s fails, and tries that again within seconds", async (step) => {
    const rows = new Rows();
    rows.failing = step;
    const retention = retentionOf(rows);
    retention.start();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(rows.undone).toEqual([step]);
    rows.failing = undefined;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(rows.undone).toEqual([]);
    void retention.stop();
  });

  it("that is stopped while one step fails begins no other", async () => {
    const rows = new Rows();
    rows.failing = "makeAhead";
    const retention = retentionOf(rows);
    const act = rows.do.bind(rows);
    rows.do = (...given) => {
      void retention.stop();
      return act(...given);
    };
    retention.start();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([rows.asked.get("makeAhead"), rows.asked.get("forgetOld")]).toEqual([1, 0]);
  });

  it("whose days cannot be made sweeps each hour all the same, not each time it tries", async () => {
    const rows = new Rows();
    rows.failing = "makeAhead";
    const retention = retentionOf(rows);
    retention.start();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([rows.asked.get("makeAhead"), rows.asked.get("dropOlderThan")]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([rows.asked.get("makeAhead"), rows.asked.get("dropOlderThan")]).toEqual([7, 1]);
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(rows.asked.get("dropOlderThan")).toBe(2);
    void retention.stop();
  });
});
