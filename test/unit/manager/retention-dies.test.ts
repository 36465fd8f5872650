import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  MOST_ERRORS,
  RETAINED_KINDS,
  type RetainedKind,
  Retention,
  type RetentionStore,
} from "../../../services/observer-manager/src/operations/books/retention.ts";
import { Dying, deathsIn } from "../../support/ports/dying.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const RETENTION_MS = 1_000_000;
const EVERY_MS = RETENTION_MS / 10;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How long ago each row of each kind ended, in ms. A delete of observers leaves a piece of their counts, as triggers do. */
class Rows implements RetentionStore {
  readonly endedAgoMs: Map<RetainedKind, number[]>;
  errors = MOST_ERRORS + 1_200;
  figures = 1_200;
  pieces = 0;
  largestBatch = 0;

  constructor() {
    const old = (count: number) => Array.from({ length: count }, () => RETENTION_MS + 1);
    this.endedAgoMs = new Map(RETAINED_KINDS.map((kind) => [kind, [...old(kind === "runs" ? 1_200 : 3), 5_000, 6_000]]));
  }

  async removeOld(kind: RetainedKind, olderThanMs: number, limit: number): Promise<number> {
    const rows = this.endedAgoMs.get(kind) ?? [];
    const removed = rows.filter((agoMs) => agoMs > olderThanMs).slice(0, limit).length;
    this.endedAgoMs.set(kind, rows.slice(removed));
    this.largestBatch = Math.max(this.largestBatch, removed);
    if (kind === "observers" && removed > 0) this.pieces += 1;
    return removed;
  }

  async removeExcessErrors(most: number, limit: number): Promise<number> {
    const removed = Math.min(Math.max(0, this.errors - most), limit);
    this.errors -= removed;
    return removed;
  }

  async forgetFigures(limit: number): Promise<number> {
    const removed = Math.min(this.figures, limit);
    this.figures -= removed;
    return removed;
  }

  async foldCounts(): Promise<void> {
    this.pieces = 0;
  }
}

async function sweepOnce(rows: Rows, process?: Dying): Promise<void> {
  const store = process?.port<RetentionStore>(rows) ?? rows;
  const retention = new Retention({ store, retentionMs: RETENTION_MS, log });
  retention.start();
  await vi.advanceTimersByTimeAsync(EVERY_MS + 1_000);
  void retention.stop();
}

vi.useFakeTimers();
const deaths = await deathsIn((process) => sweepOnce(new Rows(), process));
vi.useRealTimers();

describe("a retention", () => {
  it("sweeps in batches, and not before its time", async () => {
    const rows = new Rows();
    const retention = new Retention({ store: rows, retentionMs: RETENTION_MS, log });
    retention.start();
    await vi.advanceTimersByTimeAsync(EVERY_MS - 1);
    expect(rows.largestBatch).toBe(0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(rows.largestBatch).toBe(500);
    void retention.stop();
  });

  it.each(deaths)(
    "that dies $when $step ($at) leaves the rest to its successor's first sweep, and nothing that is young goes",
    async ({ at, when }) => {
      const rows = new Rows();
      const process = new Dying(at, when);
      await sweepOnce(rows, process);
      await process.died;
      await sweepOnce(rows);
      for (const kind of RETAINED_KINDS) expect(rows.endedAgoMs.get(kind), kind).toEqual([5_000, 6_000]);
      expect([rows.errors, rows.figures, rows.pieces]).toEqual([MOST_ERRORS, 0, 0]);
    },
  );

  it("goes on with all other kinds where one cannot be removed", async () => {
    const rows = new Rows();
    const removeOld = rows.removeOld.bind(rows);
    rows.removeOld = (...given) => (given[0] === "runs" ? Promise.reject(new Error("too long")) : removeOld(...given));
    await sweepOnce(rows);
    const left = RETAINED_KINDS.filter((kind) => (rows.endedAgoMs.get(kind)?.length ?? 0) > 2);
    expect(left).toEqual(["runs"]);
    expect(rows.pieces).toBe(0);
  });

  it("that is stopped in the middle removes no batch more", async () => {
    const rows = new Rows();
    const retention = new Retention({ store: rows, retentionMs: RETENTION_MS, log });
    const removeOld = rows.removeOld.bind(rows);
    rows.removeOld = async (...given) => {
      const removed = await removeOld(...given);
      if (given[0] === "runs") void retention.stop();
      return removed;
    };
    retention.start();
    await vi.advanceTimersByTimeAsync(EVERY_MS + 1_000);
    expect(rows.endedAgoMs.get("runs")).toHaveLength(702);
    expect(rows.endedAgoMs.get("services")).toHaveLength(5);
  });
});
