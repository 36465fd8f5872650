import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CALM_MS, Calm } from "../../../services/observer-manager/src/domain/balance/calm.ts";
import { asideOf, nextStep, type Plan, planOf } from "../../../services/observer-manager/src/domain/balance/plan.ts";
import type { BalancedService } from "../../../services/observer-manager/src/domain/balance/service-load.ts";
import { unevenText } from "../../../services/observer-manager/src/domain/balance/uneven.ts";

const TYPES = ["a", "b", "c"];
const ALL = new Set(TYPES);

const service = (id: string, workers: number, runs: Record<string, number>, knows = ALL): BalancedService => ({
  id,
  workers,
  runs: new Map(Object.entries(runs)),
  knows,
});

const total = (counts: Iterable<number>): number => [...counts].reduce((a, b) => a + b, 0);
const runningOn = ({ runs }: BalancedService): number => total(runs.values());
const leavingOf = (plan: Plan, id: string): Record<string, number> =>
  Object.fromEntries(plan.services.find((one) => one.id === id)?.leaving ?? []);

const firstOf = ({ stages: [first] }: Plan): Plan["stages"][number] => {
  if (first === undefined) throw new Error("nothing is to move");
  return first;
};
const stepOf = (plan: Plan, atMost: number) => nextStep(firstOf(plan), atMost);
const asideIn = (plan: Plan, moving: number, givers: ReadonlySet<string>) => asideOf(plan, firstOf(plan), moving, givers);

/** Where the broker may put them: anywhere below its share. */
function carryOut(
  services: readonly BalancedService[],
  plan: Plan,
  takes: (service: BalancedService) => boolean = () => true,
): BalancedService[] {
  const shares = new Map(plan.services.map(({ id, share }) => [id, share]));
  const after = services.map((one) => ({ ...one, runs: new Map(one.runs) }));
  const homeless: string[] = [];
  for (const { id, leaving } of plan.services)
    for (const [type, count] of leaving) {
      const giver = after.find((one) => one.id === id);
      giver?.runs.set(type, (giver.runs.get(type) ?? 0) - count);
      for (let i = 0; i < count; i += 1) homeless.push(type);
    }
  for (const type of homeless) {
    const taker = after.find((one) => takes(one) && runningOn(one) < (shares.get(one.id) ?? 0));
    if (taker === undefined) throw new Error("there is no place left");
    taker.runs.set(type, (taker.runs.get(type) ?? 0) + 1);
  }
  return after;
}

const pool = fc
  .array(
    fc.record({
      workers: fc.integer({ min: 1, max: 200 }),
      runs: fc.tuple(fc.nat(60), fc.nat(60), fc.nat(5)),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((services) => services.map(({ workers, runs: [a, b, c] }, i) => service(`s${i}`, workers, { a, b, c })));

describe("a plan", () => {
  test("gives each its part by workers, to a whole observer, with no move more than that takes", () => {
    fc.assert(
      fc.property(pool, (services) => {
        const plan = planOf(services);
        const all = total(services.map(runningOn));
        const workers = total(services.map((one) => one.workers));
        expect(total(plan.services.map(({ share }) => share))).toBe(all);
        for (const [i, { share }] of plan.services.entries())
          expect(Math.abs(share - (all * (services[i]?.workers ?? 0)) / workers)).toBeLessThanOrEqual(1);
        expect(plan.moves).toBe(total(plan.services.map(({ running, share }) => Math.max(0, running - share))));
        // No other rounding needs fewer: a share that was rounded up is one of those with most above it.
        const up = (one: Plan["services"][number], i: number) =>
          one.share > Math.floor((all * (services[i]?.workers ?? 0)) / workers);
        const above = (one: Plan["services"][number], i: number) =>
          one.running - Math.floor((all * (services[i]?.workers ?? 0)) / workers);
        const roundedUp = plan.services.flatMap((one, i) => (up(one, i) ? [above(one, i)] : []));
        const roundedDown = plan.services.flatMap((one, i) => (up(one, i) ? [] : [above(one, i)]));
        if (roundedUp.length > 0 && roundedDown.length > 0)
          expect(Math.min(...roundedUp)).toBeGreaterThanOrEqual(Math.max(...roundedDown));
      }),
      { numRuns: 2_000 },
    );
  });

  test("once carried out leaves nothing to move: it never flaps", () => {
    fc.assert(
      fc.property(pool, (services) => {
        const after = carryOut(services, planOf(services));
        expect(planOf(after)).toMatchObject({ moves: 0, isUneven: false });
      }),
      { numRuns: 2_000 },
    );
  });

  test("made in steps of any size, each planned anew, needs as many moves as made at once", () => {
    fc.assert(
      fc.property(pool, fc.integer({ min: 1, max: 40 }), (services, atMost) => {
        const wanted = planOf(services).moves;
        let now = services;
        let moved = 0;
        for (let plan = planOf(now); plan.moves > 0; plan = planOf(now)) {
          const steps = new Map(stepOf(plan, atMost).map(({ id, leaving }) => [id, leaving]));
          const part = plan.services.map((one) => ({ ...one, leaving: steps.get(one.id) ?? new Map<string, number>() }));
          const count = total(part.map(({ leaving }) => total(leaving.values())));
          expect(count).toBe(Math.min(plan.moves, atMost));
          now = carryOut(now, { ...plan, services: part });
          moved += count;
        }
        expect(moved).toBe(wanted);
      }),
      { numRuns: 1_000 },
    );
  });

  test("takes from each first what its type has too much of there", () => {
    const plan = planOf([service("full", 10, { a: 40, b: 20 }), service("other", 10, { b: 20 }), service("new", 10, {})]);
    expect(plan).toMatchObject({ moves: 33, isUneven: true });
    // 80 in all, so 27 stay; of a third of each type, 13.3, it keeps 14 and 13.
    expect(leavingOf(plan, "full")).toEqual({ a: 26, b: 7 });
    expect(leavingOf(plan, "other")).toEqual({});
  });

  test("moves nothing that the takers do not know", () => {
    const plan = planOf([service("full", 10, { a: 30, c: 10 }), service("old", 10, {}, new Set(["a"]))]);
    expect(leavingOf(plan, "full")).toEqual({ a: 20 });
    const nothing = planOf([service("full", 10, { c: 40 }), service("old", 10, {}, new Set(["a"]))]);
    expect(nothing.moves).toBe(0);
  });

  test("moves what one with room knows, no more than it has room for, and lets those step aside that do not know it", () => {
    const [x, y, xy] = [new Set(["x"]), new Set(["y"]), new Set(["x", "y"])];
    const plan = planOf([service("a", 40, { x: 60 }, xy), service("b", 40, {}, xy), service("c", 40, {}, y)]);
    expect(plan).toMatchObject({ moves: 20, isUneven: true });
    expect(leavingOf(plan, "a")).toEqual({ x: 20 });
    expect(asideIn(plan, 5, new Set(["a"]))).toEqual(["c"]);
    const apart = planOf([service("a", 40, { x: 30, y: 30 }, xy), service("b", 40, {}, x), service("c", 40, {}, y)]);
    expect(apart.moves).toBe(40);
    expect(stepOf(apart, 40)).toEqual([{ id: "a", leaving: new Map([["x", 20]]) }]);
    expect(asideIn(apart, 5, new Set(["a"]))).toEqual(["c"]);
    const none = planOf([service("a", 40, { x: 40 }, xy), service("c", 40, {}, y)]);
    expect(none).toMatchObject({ moves: 0, isUneven: true });
  });

  test("of services of any types, carried out stage by stage, gives nobody what it does not know, and comes to an end", () => {
    const known = fc.subarray(TYPES, { minLength: 1 }).map((types) => new Set(types));
    const mixed = fc.array(
      fc.record({
        workers: fc.integer({ min: 1, max: 100 }),
        knows: known,
        runs: fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30)),
      }),
      { minLength: 2, maxLength: 7 },
    );
    fc.assert(
      fc.property(mixed, fc.integer({ min: 1, max: 40 }), (drawn, atMost) => {
        let now = drawn.map(({ workers, knows, runs }, i) =>
          service(`s${i}`, workers, Object.fromEntries(TYPES.map((t, j) => [t, knows.has(t) ? (runs[j] ?? 0) : 0])), knows),
        );
        const all = total(now.map(runningOn));
        let left = all;
        for (let plan = planOf(now); plan.moves > 0; plan = planOf(now), left -= 1) {
          expect(left).toBeGreaterThanOrEqual(0);
          const steps = new Map(stepOf(plan, atMost).map(({ id, leaving }) => [id, leaving]));
          expect(steps.size).toBeGreaterThan(0);
          const moving = new Set([...steps.values()].flatMap((one) => [...one.keys()]));
          const aside = new Set(asideIn(plan, atMost, new Set(steps.keys())));
          for (const { id, knows } of now)
            expect(aside.has(id) || steps.has(id) || [...moving].every((type) => knows.has(type))).toBe(true);
          const before = new Map(now.map((one) => [one.id, runningOn(one)]));
          const part = plan.services.map((one) => ({ ...one, leaving: steps.get(one.id) ?? new Map<string, number>() }));
          now = carryOut(now, { ...plan, services: part }, ({ id }) => plan.stages[0]?.takers.has(id) === true);
          for (const one of now) for (const [type, count] of one.runs) if (count > 0) expect(one.knows.has(type)).toBe(true);
          for (const { id, share } of plan.services) {
            const after = runningOn(now.find((one) => one.id === id) as BalancedService);
            expect(after).toBeLessThanOrEqual(Math.max(share, before.get(id) ?? 0));
          }
        }
        expect(total(now.map(runningOn))).toBe(all);
      }),
      { numRuns: 1_000 },
    );
  });

  test("lets only those take that lack at least what comes to each", () => {
    const plan = planOf([
      service("gives", 10, { a: 40 }),
      service("even", 10, { a: 16 }),
      service("nearly", 10, { a: 14 }),
      service("lacks", 10, { a: 8 }),
      service("empty", 10, {}),
    ]);
    const givers = new Set(["gives"]);
    expect(asideIn(plan, 2, givers)).toEqual(["even"]);
    expect(asideIn(plan, 9, givers)).toEqual(["even", "nearly"]);
    expect(asideIn(plan, 20, givers)).toEqual(["even", "nearly", "lacks"]);
    expect(asideIn(plan, 100, givers)).toEqual(["even", "nearly", "lacks"]);
  });

  test("calls uneven what is both five and a quarter away, above or below", () => {
    const two = (a: number, b: number) => planOf([service("x", 10, { a }), service("y", 10, { a: b })]);
    expect(two(25, 15).isUneven).toBe(false); // 5 above 20
    expect(two(26, 14).isUneven).toBe(true); // 6 above 20
    expect(two(120, 80).isUneven).toBe(false); // 20 above 100: a fifth
    expect(two(126, 74).isUneven).toBe(true);
    expect(two(6, 0).isUneven).toBe(false);
    const joined = planOf([...Array.from({ length: 9 }, (_, i) => service(`s${i}`, 10, { a: 20 })), service("new", 10, {})]);
    expect(unevenText(joined, (id) => id)).toBe("new runs 0, and its share is 18");
  });

  test("names the farthest of those that are far from their share, and not one that is less so for its size", () => {
    const services = [service("big", 1_000, { a: 700 }), service("mid", 1_000, { a: 620 }), service("small", 20, {})];
    expect(unevenText(planOf(services), (id) => id)).toBe("small runs 0, and its share is 13");
  });

  test("of a pool without services, workers or observers is empty", () => {
    expect(planOf([])).toEqual({ services: [], stages: [], moves: 0, isUneven: false });
    expect(planOf([service("x", 10, {})])).toMatchObject({ moves: 0, isUneven: false });
  });
});

/** Throws where it is asked more than that: a plan must not hold up the manager. */
class Asked {
  #left: number;

  constructor(atMost: number) {
    this.#left = atMost;
  }

  set(of: Iterable<string>): ReadonlySet<string> {
    return this.#watch(new Set(of), "has");
  }

  map(of: Iterable<[string, number]>): ReadonlyMap<string, number> {
    return this.#watch(new Map(of), "get");
  }

  #watch<Kept extends object>(kept: Kept, name: keyof Kept): Kept {
    const ask = (kept[name] as (key: string) => unknown).bind(kept);
    const counted = (key: string): unknown => {
      this.#left -= 1;
      if (this.#left < 0) throw new Error("a plan asks too much of its services");
      return ask(key);
    };
    return Object.assign(kept, { [name]: counted });
  }
}

describe("a plan of services that know many different sets of types", () => {
  const TYPES_OF_MANY = Array.from({ length: 300 }, (_, i) => `type-${i}`);

  test("asks each service once of each type, and is made of so few stages that it takes no time", () => {
    const asked = new Asked(2 * 200 * 300);
    // Of 100 sets, each lacks every tenth type or so, each others.
    const many = Array.from({ length: 200 }, (_, s): BalancedService => {
      const knows = TYPES_OF_MANY.filter((_type, t) => ((s % 100) * 7 + t * 13 + (((s % 100) * t) % 11)) % 10 > 0);
      const runs = s < 100 ? knows.filter((_type, t) => (s + t) % 3 === 0).map((type): [string, number] => [type, 2]) : [];
      return { id: `s${s}`, workers: 200, runs: asked.map(runs), knows: asked.set(knows) };
    });
    const plan = planOf(many);
    expect(plan.isUneven).toBe(true);
    expect(plan.moves).toBeGreaterThan(500);
    expect(plan.stages.length).toBe(10);
  });
});

describe("calm", () => {
  const fleet = [{ id: "x", generation: 1, standing: "Alive none" }];

  test("begins anew whenever somebody comes, goes, connects anew or changes its mind; not by their order", () => {
    const calm = new Calm();
    const two = [...fleet, { id: "y", generation: 1, standing: "Alive none" }];
    expect(calm.look("p", two, 0)).toBe(0);
    expect(calm.look("p", two.toReversed(), CALM_MS)).toBe(CALM_MS);
    expect(calm.look("p", fleet, CALM_MS + 1)).toBe(0);
    expect(calm.look("p", [{ ...(fleet[0] as (typeof fleet)[0]), generation: 2 }], CALM_MS + 2)).toBe(0);
    expect(
      calm.look("p", [{ ...(fleet[0] as (typeof fleet)[0]), generation: 2, standing: "Alive cordoned" }], CALM_MS + 3),
    ).toBe(0);
  });

  test("a service that flaps each 30 s keeps its pool from it for ever", () => {
    const calm = new Calm();
    for (let i = 1; i < 100; i += 1) {
      const services = [...fleet, { id: `flaps-${i}`, generation: 1, standing: "Alive none" }];
      calm.look("p", services, i * 30_000);
      expect(calm.look("p", services, i * 30_000 + 29_999)).toBeLessThan(CALM_MS);
    }
  });
});
