import { describe, expect, it } from "vitest";
import {
  mayGoOn,
  type ReadersLook,
  readersKnow,
  SETTLED_MS,
  servicesKnow,
} from "../../../services/observer-manager/src/domain/features/readers-know.ts";

const able = { features: ["queue-marker", "of-a-later-version"], isConsuming: true, isSilent: false };
const unable = { features: [], isConsuming: true, isSilent: false };

const NOW = 1_000_000;
/** The same sight at every look, back to before what has to be settled. */
const throughout = (look: Partial<ReadersLook>): ReadersLook[] =>
  [SETTLED_MS + 1, SETTLED_MS / 2, 0].map((agoMs) => ({ atMs: NOW - agoMs, consumers: 1, managers: [able], ...look }));
const know = (looks: ReadersLook[]) => readersKnow("queue-marker", looks, NOW);

describe("a feature is known to all readers of the state queue", () => {
  it("when each consumer is a manager that announces it", () => {
    expect(know(throughout({}))).toBe(true);
    expect(know(throughout({ consumers: 2, managers: [able, able] }))).toBe(true);
    expect(know(throughout({ consumers: 1, managers: [able, { ...able, isConsuming: false }] }))).toBe(true);
  });

  it("not while one consumer has no row, as a manager of 0.1.0 has none", () => {
    expect(know(throughout({ consumers: 2 }))).toBe(false);
    expect(know(throughout({ consumers: 1, managers: [{ ...able, isConsuming: false }] }))).toBe(false);
  });

  it("not while one manager lives that does not announce it", () => {
    expect(know(throughout({ consumers: 2, managers: [able, unable] }))).toBe(false);
    expect(know(throughout({ consumers: 1, managers: [able, { ...unable, isSilent: true }] }))).toBe(true);
    expect(know(throughout({ consumers: 1, managers: [able, { ...unable, isConsuming: false }] }))).toBe(false);
  });

  it("not while the broker cannot be asked, or says that nobody consumes", () => {
    expect(know(throughout({ consumers: null }))).toBe(false);
    expect(know(throughout({ consumers: 0 }))).toBe(false);
  });

  it("not before it has been so for longer than a killed manager counts, nor by a look of long ago", () => {
    const [first, ...later] = throughout({}) as [ReadersLook, ...ReadersLook[]];
    expect(know(later)).toBe(false);
    expect(know([])).toBe(false);
    expect(know([{ ...first, consumers: 2 }, ...later])).toBe(false);
    expect(readersKnow("queue-marker", throughout({}), NOW + 60_000)).toBe(false);
  });
});

describe("what all readers knew", () => {
  const goesOn = (look: Partial<ReadersLook>) => mayGoOn("queue-marker", throughout(look));

  it("holds while nobody can be asked", () => {
    expect([goesOn({}), goesOn({ consumers: null }), goesOn({ consumers: 0 }), mayGoOn("queue-marker", [])]).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  it("holds no more once one is seen that may not know it", () => {
    expect([goesOn({ managers: [able, unable], consumers: 2 }), goesOn({ managers: [unable], consumers: null })]).toEqual([
      false,
      false,
    ]);
    expect(goesOn({ consumers: 2 })).toBe(false);
  });

  it("holds while the broker still counts consumers of one that has lost its session, or went without a word", () => {
    expect(goesOn({ consumers: 2, managers: [able, { ...able, isConsuming: false }] })).toBe(true);
    expect(goesOn({ consumers: 2, managers: [able, { ...able, isSilent: true }] })).toBe(true);
    expect(goesOn({ consumers: 2, managers: [able, { ...unable, isSilent: true }] })).toBe(false);
    expect(goesOn({ consumers: 1, managers: [able, { ...unable, isSilent: true }] })).toBe(true);
    expect(know(throughout({ consumers: 2, managers: [able, { ...able, isSilent: true }] }))).toBe(false);
  });
});

describe("a feature is known to the services of a pool", () => {
  it("when each announces it, and not where there is none", () => {
    expect(servicesKnow("queue-marker", [["queue-marker"], ["queue-marker", "tasks"]])).toBe(true);
    expect(servicesKnow("queue-marker", [["queue-marker"], []])).toBe(false);
    expect(servicesKnow("queue-marker", [])).toBe(false);
  });
});
