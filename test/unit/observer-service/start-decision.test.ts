import { newMessageId, newObserverId, newRunId } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { decideStart, type KnownRun } from "../../../services/observer-service/src/keeper/intake/start-decision.ts";
import { TOMBSTONE_MS, Tombstones } from "../../../services/observer-service/src/keeper/intake/tombstones.ts";

const run = (revision: number, live = true, deliveryCount = 0): KnownRun => ({
  runId: newRunId(),
  messageId: newMessageId(),
  deliveryCount,
  revision,
  live,
  ending: false,
});
const FIRST_TIME = { messageId: newMessageId(), deliveryCount: 0 };
const decide = (revision: number, known: KnownRun[] = [], more: object = {}) =>
  decideStart({ revision, ...FIRST_TIME }, { knowsType: true, isBuried: false, known, ...more });

describe("a start", () => {
  test("of an unknown observer is run", () => {
    expect(decide(1)).toEqual({ kind: "run", obsolete: [] });
  });
  test("of a revision that was stopped here, or is lower than one here, is refused", () => {
    expect(decide(1, [], { isBuried: true })).toEqual({ kind: "refuse", reason: "stopped" });
    expect(decide(1, [run(2)])).toEqual({ kind: "refuse", reason: "stopped" });
    expect(decide(1, [run(2, false)])).toEqual({ kind: "refuse", reason: "stopped" });
  });
  test("of the revision that runs here, or waits here to run, is a duplicate", () => {
    const [old, waiting] = [run(1, false), run(1)];
    expect(decide(1, [old, waiting])).toEqual({ kind: "drop-duplicate", keptRunId: waiting.runId });
  });
  test("of the revision of a run that ends for good is run, as that one takes its own message along", () => {
    const ending = { ...run(1), ending: true };
    expect(decide(1, [ending])).toEqual({ kind: "run", obsolete: [ending.runId] });
    const next = run(1);
    expect(decide(1, [ending, next])).toEqual({ kind: "drop-duplicate", keptRunId: next.runId });
  });
  test("of the revision of a run that lost its lease is run: it is that run's message, come again", () => {
    expect(decide(1, [run(1, false)])).toEqual({ kind: "run", obsolete: [] });
  });
  test("of a higher revision makes every live run obsolete", () => {
    const [first, second] = [run(1), run(2)];
    expect(decide(3, [first, second])).toEqual({ kind: "run", obsolete: [first.runId, second.runId] });
  });
  test("whose message a live run holds, given out once more, says that the broker has taken that back, whatever else holds", () => {
    const held = run(1, true, 3);
    const again = (deliveryCount: number, more: object = {}) =>
      decideStart(
        { revision: 1, messageId: held.messageId, deliveryCount },
        { knowsType: true, isBuried: false, known: [held], ...more },
      );
    expect(again(4)).toEqual({ kind: "taken-back", runId: held.runId });
    expect(again(4, { isBuried: true, knowsType: false })).toEqual({ kind: "taken-back", runId: held.runId });
    expect(again(4, { known: [{ ...held, live: false }] })).toEqual({ kind: "run", obsolete: [] });
    expect(again(3)).toEqual({ kind: "drop-duplicate", keptRunId: held.runId });
  });
  test("of an unknown type is refused", () => {
    expect(decide(1, [], { knowsType: false })).toEqual({ kind: "refuse", reason: "unknown-type" });
  });
});

describe("a tombstone", () => {
  const id = newObserverId();

  test("refuses its revision and lower ones, for 15 minutes", () => {
    const tombstones = new Tombstones();
    tombstones.remember(id, 2, 0);
    expect([1, 2, 3].map((revision) => tombstones.refuses(id, revision, 1))).toEqual([true, true, false]);
    expect(tombstones.refuses(id, 1, TOMBSTONE_MS)).toBe(false);
    expect(tombstones.refuses(newObserverId(), 1, 1)).toBe(false);
  });
  test("keeps the highest revision when an older stop comes again", () => {
    const tombstones = new Tombstones();
    tombstones.remember(id, 3, 0);
    tombstones.remember(id, 1, 1);
    expect(tombstones.refuses(id, 3, 2)).toBe(true);
  });
  test("makes room for new ones, the oldest first", () => {
    const tombstones = new Tombstones(2);
    const ids = [newObserverId(), newObserverId(), newObserverId()];
    for (const [index, each] of ids.entries()) tombstones.remember(each, 1, index);
    expect(ids.map((each) => tombstones.refuses(each, 1, 5))).toEqual([false, true, true]);
    tombstones.remember(id, 1, TOMBSTONE_MS * 2);
    expect(tombstones.size).toBe(1);
  });
});
