import { DEFAULT_RETRY, newMessageId, newServiceId, type ObserverSpec } from "@unacked/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObserverBook } from "../../../services/observer-manager/src/domain/books/observer-book.ts";
import { applyInput } from "../../../services/observer-manager/src/domain/observers/observer-input.ts";
import {
  differencesOf,
  isBehind,
  observedSpecVersion,
  raiseSpecVersion,
  takesMessage,
} from "../../../services/observer-manager/src/domain/observers/spec-change.ts";
import { runOf, Scene, started, stopped } from "./books-fixture.ts";

const SPEC: ObserverSpec = {
  silence: null,
  params: { a: 1, b: { c: [1, 2] } },
  labels: { team: "web" },
  retry: DEFAULT_RETRY,
  pool: "default",
};
const SERVICE = newServiceId();

const raise = (observer: ObserverBook, fields: Parameters<typeof raiseSpecVersion>[1]["fields"], pool = observer.pool) =>
  raiseSpecVersion(observer, { run: undefined, fields, pool, hasMessage: true });

describe("what is wanted of an observer", () => {
  it("differs by what it says, and not by the order in which it says it", () => {
    expect(differencesOf(SPEC, { params: { b: { c: [1, 2] }, a: 1 }, labels: { team: "web" }, pool: "default" })).toEqual(
      [],
    );
    expect(differencesOf(SPEC, {})).toEqual([]);
    expect(differencesOf({ ...SPEC, params: 0 }, { params: -0 })).toEqual([]);
    expect(differencesOf(SPEC, { params: { a: 1, b: { c: [2, 1] } }, pool: "other" })).toEqual([
      { field: "params", is: SPEC.params, wanted: { a: 1, b: { c: [2, 1] } } },
      { field: "pool", is: "default", wanted: "other" },
    ]);
    // A list of pairs is no object.
    expect(differencesOf({ ...SPEC, params: { a: 1 } }, { params: [["a", 1]] })).toHaveLength(1);
  });

  it("is the same for the same JSON, and for no other", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const isSame = differencesOf({ ...SPEC, params: one }, { params: other }).length === 0;
        const parsed = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
        expect(differencesOf({ ...SPEC, params: one }, { params: parsed(one) })).toEqual([]);
        if (isSame) expect(parsed(one)).toEqual(parsed(other));
      }),
    );
  });

  it("takes a message but for labels", () => {
    expect(["params", "labels", "retry", "pool"].map((field) => takesMessage([field as "params"]))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it("is counted: what was changed since the message was made is behind it, but for what takes none", () => {
    const observer = new Scene().observer();
    raise(observer, ["labels"]);
    expect([observer.specVersion, observer.neededSpecVersion, isBehind(observer, undefined)]).toEqual([2, 1, false]);
    raise(observer, ["labels", "params"]);
    expect([observer.specVersion, observer.neededSpecVersion, isBehind(observer, undefined)]).toEqual([3, 3, true]);
  });

  it("in another pool leaves the message where it is, until that has come to its end", () => {
    const scene = new Scene();
    const observer = scene.observer({ status: "Redistributing" });
    raise(observer, ["pool"], "other");
    expect([observer.pool, observer.messagePool]).toEqual(["other", "default"]);
    raise(observer, ["pool"], "third");
    expect([observer.pool, observer.messagePool]).toEqual(["third", "default"]);
    applyInput(scene.books, observer, "update");
    applyInput(scene.books, observer, "absent");
    expect([observer.pool, observer.messagePool, observer.status]).toEqual(["third", null, "Created"]);
    raise(observer, ["pool"], "other");
    raise(observer, ["pool"], "third");
    expect([observer.pool, observer.messagePool]).toEqual(["third", null]);
    // One without a message has none to leave behind.
    const paused = scene.observer({ status: "Paused" });
    raiseSpecVersion(paused, { run: undefined, fields: ["pool"], pool: "other", hasMessage: false });
    expect([paused.pool, paused.messagePool]).toEqual(["other", null]);
  });

  it("of one that nobody had and that is deleted by force, the message stays where it is", () => {
    const scene = new Scene();
    const leaves = scene.observer({ status: "OnDeleting", pool: "new", messagePool: "old" });
    const [waits, over] = [scene.observer({ status: "Created" }), scene.observer({ status: "Completed" })];
    for (const observer of [leaves, waits, over]) applyInput(scene.books, observer, "force-delete");
    expect([leaves, waits, over].map(({ status, messagePool }) => [status, messagePool])).toEqual([
      ["Deleted", "old"],
      ["Deleted", "default"],
      ["Deleted", null],
    ]);
  });

  it("is observed of the current run: as its service says, else as it was sent", () => {
    const scene = new Scene();
    const observer = scene.observer({ specVersion: 4, neededSpecVersion: 4, sentSpecVersion: 4 });
    const run = runOf(observer);
    scene.say(SERVICE, [{ ...started(run), specVersion: 3 } as ReturnType<typeof started>]);
    expect(observedSpecVersion(observer, scene.books.runs.get(run.runId))).toBe(3);
    expect(observedSpecVersion(observer, undefined)).toBeNull();
    const silent = scene.observer({ specVersion: 4, neededSpecVersion: 4, sentSpecVersion: 4 });
    const other = runOf(silent);
    scene.say(SERVICE, [started(other)]);
    expect(observedSpecVersion(silent, scene.books.runs.get(other.runId))).toBe(4);
  });

  it("of restored books gets a version that nobody has had", () => {
    const scene = new Scene();
    const observer = scene.observer({ specVersion: 2, neededSpecVersion: 2, sentSpecVersion: 2 });
    const run = runOf(observer, { revision: 5 });
    scene.say(SERVICE, [{ ...started(run), specVersion: 7 } as ReturnType<typeof started>]);
    expect([observer.revision, observedSpecVersion(observer, scene.books.runs.get(run.runId))]).toEqual([5, 7]);
    raiseSpecVersion(observer, {
      run: scene.books.runs.get(run.runId),
      fields: ["params"],
      pool: "default",
      hasMessage: true,
    });
    expect([observer.specVersion, isBehind(observer, undefined)]).toEqual([8, true]);
  });
});

describe("an update and a failover at once", () => {
  it("a refusal of the message that the current run had is its end, and what is wanted is sent", () => {
    const scene = new Scene();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(SERVICE, [started(run)]);
    raise(observer, ["params"]);
    applyInput(scene.books, observer, "update", scene.books.runs.get(run.runId));
    expect(observer.pending).toBe("update");
    const heir = newServiceId();
    const { observerId, messageId, revision } = run;
    // Of another message of this revision nothing follows.
    scene.say(heir, [{ kind: "StartRefused", observerId, messageId: newMessageId(), revision, at: 1, reason: "stopped" }]);
    expect([observer.status, observer.currentRunId]).toEqual(["Processing", run.runId]);
    scene.say(heir, [{ kind: "StartRefused", observerId, messageId, revision, at: 1, reason: "stopped" }]);
    expect([observer.status, observer.pending, observer.revision, observer.sentSpecVersion]).toEqual([
      "Created",
      null,
      2,
      2,
    ]);
    expect(scene.wanted.filter(({ kind }) => kind === "start")).toHaveLength(1);
    expect(scene.wanted.filter(({ kind }) => kind === "stop")).toHaveLength(0);
    // The end of the run that is no longer its own changes nothing.
    scene.say(SERVICE, [stopped(run)]);
    expect([observer.status, observer.revision]).toEqual(["Created", 2]);
  });
});
