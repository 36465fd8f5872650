import { describe, expect, test } from "vitest";
import type { PoolService, RebalanceRow } from "../../../services/observer-manager/src/operations/balance/balance-store.ts";
import { decideStep } from "../../../services/observer-manager/src/operations/balance/next-step.ts";

const row: RebalanceRow = {
  id: "0197d5c0-0000-7000-8000-0000000000b1",
  pool: "default",
  by: "ana",
  why: "uneven",
  begunAt: "2026-01-01T00:00:00.000Z",
  planned: 0,
  moved: 0,
  waits: null,
  endedAt: null,
  outcome: null,
  waitsForMs: 0,
  endedAgoMs: 0,
};

const service = (id: string, running: number, more: Partial<PoolService> = {}): PoolService => ({
  id,
  name: id,
  generation: 1,
  workers: 1_000,
  runs: new Map([["ticker", running]]),
  knows: new Set(["ticker"]),
  isOpen: true,
  restsFor: null,
  canMove: true,
  standing: "Alive none",
  ...more,
});

const NOBODY: ReadonlyMap<string, number> = new Map();

describe("a step of a rebalance", () => {
  test("moves one in a hundred of what runs, five at least, and lets those step aside that have their share", () => {
    const services = [service("full", 60), service("even", 20), service("empty", 0)];
    expect(decideStep(row, { services, awaiting: NOBODY })).toEqual({
      kind: "move",
      choices: [{ moves: [{ serviceId: "full", type: "ticker", count: 5 }], aside: [] }],
      left: 33,
      isNearlyEven: false,
    });
    const many = [service("full", 2_000), service("even", 1_000), service("empty", 0)];
    expect(decideStep(row, { services: many, awaiting: NOBODY })).toMatchObject({
      choices: [{ moves: [{ serviceId: "full", count: 30 }], aside: ["even"] }],
      left: 1_000,
    });
  });

  test("waits while something is on its way, and not for ever", () => {
    const services = [service("full", 60), service("empty", 0)];
    expect(decideStep(row, { services, awaiting: new Map([["ticker", 1]]) })).toMatchObject({
      kind: "wait",
      why: expect.stringMatching(/^1 observer is on/),
    });
    expect(
      decideStep(
        { ...row, waitsForMs: 60_001 },
        {
          services,
          awaiting: new Map([
            ["ticker", 1],
            ["process", 2],
          ]),
        },
      ),
    ).toMatchObject({
      kind: "end",
      outcome: "stalled",
    });
  });

  test("is made of what one of those with room knows; who does not know it steps aside", () => {
    const services = [
      service("full", 60, { runs: new Map([["ticker", 60]]), knows: new Set(["ticker", "process"]) }),
      service("empty", 0),
      service("other", 0, { knows: new Set(["process"]) }),
    ];
    expect(decideStep(row, { services, awaiting: NOBODY })).toMatchObject({
      kind: "move",
      choices: [{ moves: [{ serviceId: "full", type: "ticker", count: 5 }], aside: ["other"] }],
      left: 20,
    });
  });

  test("has a choice where those with room know different types, as all that it would move first may have moved lately", () => {
    const both = { runs: new Map(Object.entries({ ticker: 40, process: 20 })), knows: new Set(["ticker", "process"]) };
    const services = [service("full", 60, both), service("empty", 0), service("other", 0, { knows: new Set(["process"]) })];
    expect(decideStep(row, { services, awaiting: NOBODY })).toMatchObject({
      choices: [
        { moves: [{ serviceId: "full", type: "ticker", count: 5 }], aside: ["other"] },
        { moves: [{ serviceId: "full", type: "process", count: 5 }], aside: ["empty"] },
      ],
      left: 40,
    });
  });

  test("is not made beside a service that could not step aside", () => {
    const services = [service("full", 60), service("empty", 0), service("old", 0, { canMove: false })];
    expect(decideStep(row, { services, awaiting: NOBODY })).toMatchObject({
      kind: "end",
      outcome: "stalled",
      why: expect.stringMatching(/^old is of a version/),
    });
    const closed = [service("full", 60), service("empty", 0), service("old", 0, { canMove: false, isOpen: false })];
    expect(decideStep(row, { services: closed, awaiting: NOBODY })).toMatchObject({ kind: "move" });
  });

  test("waits for who would give or take and does not for now, and says who; what was told to rest is not waited for", () => {
    const suspect = { isOpen: false, restsFor: "is not heard of" };
    const [full, empty] = [service("full", 60), service("empty", 0)];
    const gives = { services: [service("full", 60, suspect), empty], awaiting: NOBODY };
    const why = "full is not heard of; with it the pool is not even";
    expect(decideStep(row, gives)).toEqual({ kind: "wait", why });
    expect(decideStep({ ...row, waitsForMs: 60_001 }, gives)).toEqual({ kind: "end", outcome: "stalled", why });
    const takes = [full, service("empty", 0, { isOpen: false, restsFor: "takes none for now: it is slow" })];
    expect(decideStep(row, { services: takes, awaiting: NOBODY })).toMatchObject({
      kind: "wait",
      why: expect.stringMatching(/^empty takes none for now: it is slow/),
    });
    const cordoned = [full, service("empty", 0, { isOpen: false })];
    expect(decideStep(row, { services: cordoned, awaiting: NOBODY })).toMatchObject({ kind: "end", outcome: "even" });
    const as = [service("one", 30, suspect), service("other", 28)];
    expect(decideStep(row, { services: as, awaiting: NOBODY })).toMatchObject({ kind: "end", outcome: "even" });
    const others = [service("full", 60, suspect), service("more", 20), empty];
    expect(decideStep(row, { services: others, awaiting: NOBODY })).toMatchObject({ kind: "move", left: 10 });
  });

  test("says that nothing can be moved where those with room do not know the types, and not that it is even", () => {
    const services = [service("full", 60), service("other", 0, { knows: new Set(["process"]) })];
    expect(decideStep(row, { services, awaiting: NOBODY })).toMatchObject({ kind: "end", outcome: "stalled" });
    expect(decideStep(row, { services: [service("a", 10), service("b", 10)], awaiting: NOBODY })).toMatchObject({
      outcome: "even",
    });
    expect(decideStep(row, undefined)).toMatchObject({ outcome: "stalled", why: "no service of the pool lives" });
  });
});
