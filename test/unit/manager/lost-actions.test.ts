import { newObserverId } from "@unacked/contracts";
import { afterEach, expect, test } from "vitest";
import { type ActionDone, doneTo, newAction } from "../../../services/observer-manager/src/operations/access/audit.ts";
import { LostActions } from "../../../services/observer-manager/src/operations/access/lost-actions.ts";
import type { NewError } from "../../../services/observer-manager/src/operations/books/books-store.ts";
import { scheduleActor } from "../../../services/observer-manager/src/operations/schedules/schedule-actor.ts";
import { eventually } from "../../support/eventually.ts";
import { keptLog, SOMEBODY } from "../../support/servers/books.ts";

const open: LostActions[] = [];
afterEach(() => Promise.all(open.splice(0).map((one) => one.stop())));

/** Over books that have of each entry as many as `there` says. */
function lostActions(there: Map<string, number>, isAway = () => false) {
  const told: NewError[] = [];
  const asked: number[] = [];
  const log = keptLog();
  const actions = new LostActions({
    missing: async (all) => {
      asked.push(all.length);
      if (isAway()) throw new Error("away");
      return new Set(all.filter(({ id, count }) => (there.get(id) ?? 0) < count).map(({ id }) => id));
    },
    errors: { record: async (errors) => void told.push(...errors) },
    managerId: "m-1",
    log,
  });
  actions.start();
  open.push(actions);
  return { actions, told, asked, log };
}

const created = (...names: string[]): ActionDone =>
  doneTo(
    newAction("observer.create", SOMEBODY),
    names.map((name) => ({ id: newObserverId(), name })),
  );

test("what another primary lacks is told once, with what was asked for; what it has is not", async () => {
  const [kept, lost] = [created("kept"), created("lost")];
  const { actions, told } = lostActions(new Map([[kept.action.id, 1]]));
  actions.accepted([kept, lost]);
  actions.databaseMoved();
  await eventually(() => expect(told).toHaveLength(1));
  expect(told[0]).toMatchObject({
    messageId: lost.action.id,
    reason: "lost-in-failover",
    observerId: lost.targets[0]?.id,
    reporter: "m-1",
  });
  expect(told[0]?.detail).toMatch(/^observer\.create of the observer lost \(.*\) was confirmed to the caller/);
  expect(JSON.parse(told[0]?.body ?? "")).toMatchObject({ action: "observer.create", targets: [{ name: "lost" }] });
  actions.databaseMoved();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told).toHaveLength(1);
});

test("who asked stands in the log alone, of each: errors are for viewers, too", async () => {
  const all = Array.from({ length: 60 }, (_, i) => created(`lost-${i}`));
  const { actions, told, log } = lostActions(new Map());
  actions.accepted(all);
  actions.databaseMoved();
  await eventually(() => expect(told).toHaveLength(60));
  const bodies = told.map(({ body }) => body).join();
  for (const one of [SOMEBODY.name, SOMEBODY.address, SOMEBODY.requestId]) expect(bodies).not.toContain(`"${one}"`);
  await eventually(() => expect(log.lines).toHaveLength(2));
  const logged = log.lines.flatMap(({ fields }) => (fields as { actions: object[] }).actions);
  expect(logged).toEqual(
    all.map(({ action }) => ({
      id: action.id,
      detail: expect.stringContaining("lost-"),
      by: expect.objectContaining(SOMEBODY),
    })),
  );
});

test("of an action over several transactions it is told when one of them is missing", async () => {
  const first = created("a", "b");
  const { actions, told } = lostActions(new Map([[first.action.id, 2]]));
  actions.accepted([first]);
  actions.accepted([{ ...first, count: 3 }]);
  actions.databaseMoved();
  await eventually(() => expect(told[0]?.detail).toContain("and 4 others"));
});

test("what a schedule has done is not told: it does it again by itself", async () => {
  const { actions, told, asked } = lostActions(new Map());
  const paused = doneTo(newAction("observer.pause", scheduleActor("market-hours")), [{ id: newObserverId(), name: "gold" }]);
  const lost = created("lost");
  actions.accepted([paused, lost]);
  actions.databaseMoved();
  await eventually(() => expect(told).not.toHaveLength(0));
  expect(told.map(({ messageId }) => messageId)).toEqual([lost.action.id]);
  expect(asked).toEqual([1]);
});

test("while the database is away again it is looked up again", async () => {
  let isAway = true;
  const { actions, told, asked } = lostActions(new Map(), () => isAway);
  actions.accepted([created("lost")]);
  actions.databaseMoved();
  await eventually(() => expect(asked).toHaveLength(1));
  isAway = false;
  await eventually(() => expect(told).toHaveLength(1));
});

test("only the last 10,000 are remembered", async () => {
  const { actions, asked } = lostActions(new Map());
  actions.accepted(Array.from({ length: 10_001 }, () => created("one")));
  actions.databaseMoved();
  await eventually(() => expect(asked).toEqual([10_000]));
});
