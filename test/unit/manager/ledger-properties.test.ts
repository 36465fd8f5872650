import {
  newMessageId,
  newRunId,
  newServiceId,
  OBSERVER_STATUSES,
  PENDING,
  type ServiceEvent,
  traitsOf,
} from "@unacked/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReceivedMessage } from "../../../services/observer-manager/src/domain/books/received-message.ts";
import { completed, failed, held, type RunIdentity, released, retrying, Scene, started, stopped } from "./books-fixture.ts";

const SERVICES = [newServiceId(), newServiceId(), newServiceId()] as const;
const OBSERVERS = 3;
const RUNS_PER_OBSERVER = 4;
const WORDS = [started, retrying, held, completed, failed, stopped, released] as const;
const STOP_REASONS = ["stopped", "restarted", "superseded", "duplicate", "obsolete", "not-wanted"] as const;

/** What a service may say, in any order and as often as it likes: duplicated, reordered and stale on purpose. */
const word = fc.record({
  service: fc.nat(SERVICES.length - 1),
  observer: fc.nat(OBSERVERS - 1),
  run: fc.nat(RUNS_PER_OBSERVER - 1),
  word: fc.nat(WORDS.length - 1),
  reason: fc.constantFrom(...STOP_REASONS),
  revision: fc.integer({ min: 1, max: 3 }),
});
const death = fc.record({ service: fc.nat(SERVICES.length - 1), dies: fc.constant(true) });
const story = fc.array(fc.oneof({ weight: 9, arbitrary: word }, { weight: 1, arbitrary: death }), { maxLength: 40 });
const STANDINGS = OBSERVER_STATUSES.filter((one) => one !== "Processing" && one !== "Retrying").flatMap((status) => [
  { status, pending: null },
  ...(traitsOf(status).canPause && traitsOf(status).run !== "later"
    ? PENDING.map((pending) => ({ status, pending, specVersion: 2, neededSpecVersion: 2 }))
    : []),
]);
const standing = fc.constantFrom(...STANDINGS);

type Step = (typeof story extends fc.Arbitrary<infer S> ? S : never)[number];

function setUp(standings: readonly (typeof STANDINGS)[number][]) {
  const scene = new Scene();
  const observers = standings.map((one) => scene.observer({ ...one, revision: 2 }));
  // Two runs share a message (a redelivery), two have one of their own (a duplicate publish).
  const runs = observers.map((observer) => {
    const [shared, other, another] = [newMessageId(), newMessageId(), newMessageId()];
    return [shared, shared, other, another].map((messageId) => ({ observerId: observer.id, runId: newRunId(), messageId }));
  });
  const messageOf = (step: Step): ReceivedMessage => {
    const serviceId = SERVICES[step.service] as (typeof SERVICES)[number];
    if ("dies" in step) return { kind: "DeathCertificate", serviceId, generation: 1 };
    const run = { ...runs[step.observer]?.[step.run], revision: step.revision } as RunIdentity;
    const say = WORDS[step.word] as (typeof WORDS)[number];
    const event: ServiceEvent = say === stopped ? stopped(run, step.reason) : say(run);
    return scene.batch(serviceId, [event]);
  };
  return { scene, observers, messageOf };
}

const isWanted = ({ scene }: ReturnType<typeof setUp>, kind: "start" | "stop", id: string): boolean =>
  scene.wanted.some((one) => one.kind === kind && "observerId" in one && one.observerId === id);

function expectSound({ scene, observers }: ReturnType<typeof setUp>): void {
  for (const observer of observers) {
    const mine = [...scene.books.runs.values()].filter((run) => run.observerId === observer.id);
    const current = mine.filter((run) => run.state === "Current");
    expect(current.map((run) => run.id)).toEqual(observer.currentRunId === null ? [] : [observer.currentRunId]);
    if (observer.status === "Processing" || observer.status === "Retrying") expect(current).toHaveLength(1);
    if (observer.status !== "Processing" && observer.status !== "Retrying" && observer.status !== "OnDeleting")
      expect(current).toHaveLength(0);
    for (const run of mine) {
      const isTold = scene.stopOf(run.id) !== undefined;
      expect(isTold, `${run.state} run told to stop`).toBe(run.state === "Superseded");
    }
  }
}

describe("whatever services say, in whatever order", () => {
  it("one run at most is an observer's own, every other that lives is being stopped, and what is over stays over", () => {
    fc.assert(
      fc.property(fc.array(standing, { minLength: OBSERVERS, maxLength: OBSERVERS }), story, (statuses, steps) => {
        const world = setUp(statuses);
        for (const step of steps) {
          const before = world.observers.map((one) => ({ ...one }));
          world.scene.apply(world.messageOf(step));
          expectSound(world);
          world.observers.forEach((after, i) => {
            const was = before[i] as (typeof before)[number];
            if (["Deleted", "Failed", "Completed", "Paused"].includes(was.status)) expect(after.status).toBe(was.status);
            // A pause comes to its end in Paused, or in the handler's own end, and never by a new message.
            if (was.pending === "pause" && after.pending === null)
              expect(["Paused", "Failed", "Completed"]).toContain(after.status);
            if (was.pending === "pause" || was.status === "Paused") expect(isWanted(world, "start", after.id)).toBe(false);
            // An update comes to its end by a message of what is wanted, and by nothing else; no stop is left that could meet it.
            if (was.pending === "update" && after.pending === null) {
              expect([after.status, after.sentSpecVersion]).toEqual(["Created", after.specVersion]);
              expect(after.revision).toBeGreaterThan(was.revision);
            }
            if (was.pending === "update" && after.pending === "update")
              expect(isWanted(world, "start", after.id)).toBe(false);
            if (was.status === "OnDeleting") expect(["OnDeleting", "Deleted"]).toContain(after.status);
            expect(after.revision).toBeGreaterThanOrEqual(was.revision);
            expect(after.runNumber).toBeGreaterThanOrEqual(was.runNumber);
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  it("a batch that comes again changes nothing", () => {
    fc.assert(
      fc.property(fc.array(standing, { minLength: OBSERVERS, maxLength: OBSERVERS }), story, (statuses, steps) => {
        const world = setUp(statuses);
        for (const step of steps) {
          const message = world.messageOf(step);
          world.scene.apply(message);
          const books = JSON.stringify([...world.scene.books.observers.values(), ...world.scene.books.runs.values()]);
          if (message.kind === "EventBatch") expect(world.scene.apply(message)).toBe("old");
          expect(JSON.stringify([...world.scene.books.observers.values(), ...world.scene.books.runs.values()])).toBe(books);
        }
      }),
      { numRuns: 200 },
    );
  });
});
