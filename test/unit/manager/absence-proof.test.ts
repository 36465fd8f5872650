import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  nextStep,
  type Proof,
  type ProofService,
  type ProofSighting,
  serviceSet,
} from "../../../services/observer-manager/src/domain/observers/absence-proof.ts";
import { ALL_STEPS, FORWARD, STEPS, type Weakness, World } from "../../support/walk/absence-model.ts";

const service = (id: string, more: Partial<ProofService> = {}): ProofService => ({
  id,
  generation: 1,
  isSuspect: false,
  isDraining: false,
  answered: null,
  ...more,
});
const a = service("a");
const b = service("b");
const doubts = { count: 1, oldestMs: 30_000, unchanged: 1, deleting: 0, deletingUnchanged: 0 };
const well: ProofSighting = { proof: null, services: [a, b], sinceDeathMs: null, doubts, ready: 0 };

const set = serviceSet([a, b]);
/** Both markers were seen before round 1 was asked for; now the second round is under way. */
const seen: Proof = {
  markerId: "m",
  ageMs: 4_000,
  services: set,
  queueSeen: true,
  stateSeen: true,
  round: 2,
  askedAgoMs: 100,
  roundsBefore: 0,
  pair: { from: 1, services: set },
};
const answered = (round: number, markerId = "m") => [a, b].map((one) => ({ ...one, answered: { markerId, round } }));
/** Both have answered it. */
const proven: ProofSighting = { ...well, proof: seen, services: answered(2) };

describe("the proof of absence", () => {
  it("goes from markers over two rounds of inventories to a conclusion", () => {
    expect(nextStep(well)).toEqual({ kind: "begin" });
    const begun: Proof = { ...seen, queueSeen: false, stateSeen: false, round: 0, roundsBefore: null, pair: null };
    expect(nextStep({ ...well, proof: begun })).toEqual({ kind: "wait" });
    expect(nextStep({ ...well, proof: { ...begun, queueSeen: true } })).toEqual({ kind: "wait" });
    const both = { ...begun, queueSeen: true, stateSeen: true, roundsBefore: 0 };
    expect(nextStep({ ...well, proof: both })).toEqual({ kind: "ask", round: 1, beginsPair: true });
    const first = { ...both, round: 1, pair: { from: 1, services: set } };
    expect(nextStep({ ...well, proof: first })).toEqual({ kind: "wait" });
    expect(nextStep({ ...well, proof: { ...first, askedAgoMs: 7_000 } })).toMatchObject({ kind: "ask", round: 1 });
    expect(nextStep({ ...well, proof: first, services: answered(1) })).toEqual({ kind: "wait" });
    const later = { ...first, askedAgoMs: 2_000 };
    expect(nextStep({ ...well, proof: later, services: answered(1) })).toMatchObject({ kind: "ask", round: 2 });
    expect(nextStep(proven)).toEqual({ kind: "conclude", whom: "unchanged" });
  });

  it("needs no empty queue", () => {
    expect(nextStep({ ...proven, ready: 100 })).toEqual({ kind: "conclude", whom: "unchanged" });
  });

  it.each<[string, Partial<ProofSighting>]>([
    ["a service is silent", { services: [...answered(2), service("c", { isSuspect: true })] }],
    ["another service has come", { services: [...answered(2), service("c")] }],
    ["a service has gone", { services: answered(2).slice(1) }],
    ["a service has a new connection", { services: answered(2).map((one) => ({ ...one, generation: 2 })) }],
    ["a service has begun to drain", { services: answered(2).map((one) => ({ ...one, isDraining: true })) }],
    ["one has not answered the second round", { services: [...answered(1).slice(1), ...answered(2).slice(0, 1)] }],
    ["one answered another marker's round", { services: answered(2, "older") }],
    ["one never answered", { services: [a, ...answered(2).slice(1)] }],
    ["the marker of the work queue was not seen", { proof: { ...seen, queueSeen: false, roundsBefore: null } }],
    ["the marker of the state queue was not seen", { proof: { ...seen, stateSeen: false, roundsBefore: null } }],
    ["the first round was asked for before the markers were seen", { proof: { ...seen, roundsBefore: 1 } }],
    ["both rounds were", { proof: { ...seen, roundsBefore: 2 } }],
    ["every row has changed since", { doubts: { ...doubts, unchanged: 0 } }],
    ["nobody is in doubt", { doubts: { ...doubts, count: 0 } }],
    ["there is no service", { services: [] }],
  ])("is not concluded while %s", (_, more) => {
    expect(nextStep({ ...proven, ...more }).kind).not.toBe("conclude");
  });

  it("does not begin just after a death, nor for what waits in a backlog for moments", () => {
    expect(nextStep({ ...well, sinceDeathMs: 2_000 })).toEqual({ kind: "wait" });
    expect(nextStep({ ...well, sinceDeathMs: 4_000 })).toEqual({ kind: "begin" });
    const moments = { ...doubts, oldestMs: 5_000 };
    expect(nextStep({ ...well, ready: 5, doubts: moments })).toEqual({ kind: "wait" });
    expect(nextStep({ ...well, ready: 5, doubts: { ...moments, deleting: 1 } })).toEqual({ kind: "begin" });
    expect(nextStep({ ...well, ready: 5 })).toEqual({ kind: "begin" });
  });

  it("sends no second marker while the first may stand in the queue", () => {
    const open: Proof = { ...seen, queueSeen: false, roundsBefore: null, round: 0, pair: null, ageMs: 60_000 };
    expect(nextStep({ ...well, proof: open, ready: 3 })).toEqual({ kind: "wait" });
    expect(nextStep({ ...well, proof: { ...open, services: "others" }, ready: 3 })).toEqual({ kind: "wait" });
    expect(nextStep({ ...well, proof: open, ready: 0 })).toEqual({ kind: "begin" });
    expect(nextStep({ ...well, proof: { ...open, ageMs: 3_700_000 }, ready: 3 })).toEqual({ kind: "begin" });
    expect(nextStep({ ...well, proof: { ...seen, services: "others" }, ready: 3 })).toEqual({ kind: "begin" });
  });

  it("concludes for those that are being deleted alone where the marker is stuck behind a backlog", () => {
    const deleting = { ...doubts, deleting: 1, deletingUnchanged: 1 };
    const stuck: Proof = { ...seen, queueSeen: false, roundsBefore: null, ageMs: 60_000 };
    const backlog = { ...proven, proof: stuck, ready: 3, doubts: deleting };
    expect(nextStep(backlog)).toEqual({ kind: "conclude", whom: "deleting" });
    expect(nextStep({ ...backlog, doubts })).toEqual({ kind: "wait" });
    expect(nextStep({ ...backlog, doubts: { ...deleting, deletingUnchanged: 0 } })).toMatchObject({ beginsPair: true });
    expect(nextStep({ ...backlog, services: answered(1) })).toEqual({ kind: "wait" });
    expect(nextStep({ ...backlog, services: [...answered(2), service("c")] })).toMatchObject({ beginsPair: true });
    expect(nextStep({ ...backlog, proof: { ...stuck, ageMs: 1_000 } })).toEqual({ kind: "wait" });
  });
});

/** One that brings a proof forward, for a while, each choice another; or any single one. */
const turnsOf = (kinds: typeof ALL_STEPS | typeof STEPS) =>
  fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ forward: fc.integer({ min: 1, max: 20 }), by: fc.nat(1_000) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom(...kinds), by: fc.nat(1_000) }) },
    ),
    { minLength: 20, maxLength: 60 },
  );

let concluded = 0;
const walk = (weakness: Weakness, kinds: Parameters<typeof turnsOf>[0]) =>
  fc.property(
    fc.integer({ min: 1, max: 6 }),
    fc.integer({ min: 1, max: 3 }),
    turnsOf(kinds),
    (observers, services, turns) => {
      const world = new World(observers, services, weakness);
      for (const each of turns) {
        if ("kind" in each) world.step(each.kind, each.by);
        else for (let i = 0; i < each.forward; i += 1) for (const kind of FORWARD) world.step(kind, each.by + i);
      }
      concluded += world.concluded;
    },
  );

describe("in a world where everything happens in any order", () => {
  it("an observer is never concluded absent while its message is somewhere, and lost ones are found", {
    timeout: 60_000,
  }, () => {
    fc.assert(walk({}, ALL_STEPS), { numRuns: 1_000, endOnFailure: true });
    expect(concluded).toBeGreaterThan(5);
  });

  it.each<[string, Weakness, number]>([
    ["a service consumed before its birth is known", { consumesBeforeBirth: true }, 11],
    ["a service answered without asking the broker on its channel", { answersWithoutFlush: true }, 10],
    ["a service answered that has lost its lease", { fencedAnswers: true }, 10],
    ["a start that was yet to be sent as it began were judged", { ignoresPending: true }, 13],
    ["it did not matter who the services are", { ignoresServices: true }, 16],
    ["the markers were not waited for", { ignoresMarker: true }, 1],
  ])("it would be, if %s", { timeout: 60_000 }, (_, weakness, seed) => {
    const found = fc.check(walk(weakness, STEPS), { numRuns: 2_000, endOnFailure: true, seed });
    expect(String(found.errorInstance)).toContain("was concluded absent, though it is");
  });

  /** The only worker that is free for a moment gets the marker, and then another start, while a proof of life has the one before. */
  function passedBehindAProofOfLife(weakness: Weakness): World {
    const world = new World(4, 1, weakness);
    const steps = (...kinds: (typeof ALL_STEPS)[number][]) => {
      for (const kind of kinds) world.step(kind, 2);
    };
    for (let i = 0; i < 3; i += 1) world.step("publish", 0);
    steps("send", "apply", "deliver", "read", "deliver", "read", "tell-run");
    world.step("tell-run", 1);
    steps("send", "apply", "send", "apply", "look", "publish-marker", "publish-marker", "apply", "publish", "probe");
    steps("end-run", "send", "apply", "deliver", "read", "send", "apply", "deliver", "read", "give-back");
    for (let i = 0; i < 3; i += 1) steps("look", "ask", "read", "send", "apply");
    return world;
  }

  it("what a proof of life was given and gave back is not concluded absent; it would be, were it not told", () => {
    const world = passedBehindAProofOfLife({});
    expect([world.traces(2), world.concluded]).toEqual([["ready"], 0]);
    expect(() => passedBehindAProofOfLife({ forgetsGivenBack: true })).toThrow(
      "observer 2 was concluded absent, though it is ready",
    );
  });

  /** A release is read, and confirmed to its service only when the marker has passed: its message goes back behind that, while nobody takes. */
  function passedBeforeAReleaseIsConfirmed(weakness: Weakness): World {
    const world = new World(3, 2, weakness);
    const of = (service: number, ...kinds: (typeof ALL_STEPS)[number][]) => {
      for (const kind of kinds) world.step(kind, service);
    };
    of(0, "send", "apply");
    of(1, "send", "apply");
    of(0, "publish", "deliver", "read", "tell-run", "send", "apply", "shed", "send", "apply");
    of(0, "look", "publish-marker", "publish-marker", "apply");
    of(1, "deliver", "read", "send", "apply");
    for (let i = 0; i < 2; i += 1) {
      of(0, "publish");
      of(1, "deliver", "read");
    }
    of(0, "confirm");
    for (let i = 0; i < 3; i += 1) {
      of(0, "look", "ask", "read", "send", "apply");
      of(1, "ask", "read", "send", "apply");
    }
    of(0, "look");
    return world;
  }

  it("what a run's end gives back late is not concluded absent; it would be, were it not told", () => {
    const world = passedBeforeAReleaseIsConfirmed({});
    expect([world.traces(0), world.concluded]).toEqual([["ready"], 0]);
    expect(() => passedBeforeAReleaseIsConfirmed({ forgetsGivenBack: true })).toThrow(
      "observer 0 was concluded absent, though it is ready",
    );
  });
});
