import {
  newMessageId,
  newRunId,
  newServiceId,
  type RunUpdated,
  type ServiceEvent,
  type ServiceId,
} from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type { Command } from "../../../services/observer-manager/src/domain/books/command.ts";
import type { ObserverBook } from "../../../services/observer-manager/src/domain/books/observer-book.ts";
import { applyInput } from "../../../services/observer-manager/src/domain/observers/observer-input.ts";
import { inputOf, isBehind, raiseSpecVersion } from "../../../services/observer-manager/src/domain/observers/spec-change.ts";
import { ask } from "../../../services/observer-manager/src/operations/observers/observer-change.ts";
import { ROOM_FOR_ALL } from "../../../services/observer-manager/src/operations/observers/room.ts";
import { type RunIdentity, runOf, Scene, started, stopped } from "./books-fixture.ts";

/** An observer that runs by version 1 on a service that can be told. */
class Told extends Scene {
  readonly service: ServiceId = newServiceId();
  readonly one: ObserverBook;
  readonly run: RunIdentity;

  constructor(features = ["hot-update"]) {
    super();
    this.one = this.observer();
    this.run = runOf(this.one);
    this.knows(this.service, features);
    this.start(this.run, 1);
  }

  knows(service: ServiceId, features: string[]): void {
    this.say(service, []);
    Object.assign(this.books.services.get(service) ?? {}, { features });
  }

  start(run: RunIdentity, specVersion: number, service = this.service): void {
    this.say(service, [{ ...started(run), specVersion } as ReturnType<typeof started>]);
  }

  /** As a PATCH leaves the books. */
  change(fields: ("params" | "silence" | "labels")[], input: "update" | "tell-update" | null = "tell-update"): void {
    const run = this.books.runs.get(this.run.runId);
    raiseSpecVersion(this.one, { run, fields, pool: "default", hasMessage: true });
    if (input !== null) applyInput(this.books, this.one, input, run);
  }

  answer(specVersion: number, outcome: RunUpdated["outcome"], more: Partial<RunUpdated> = {}): void {
    const { observerId, runId, messageId, revision } = this.run;
    const identity = { observerId, runId, messageId, revision, at: 1_000 };
    this.say(this.service, [{ kind: "RunUpdated", ...identity, specVersion, outcome, ...more }]);
  }

  orders(kind: Command["kind"] = "update-run"): Command[] {
    return this.wanted.filter((one) => one.kind === kind);
  }

  get observed(): number | null | undefined {
    return this.books.runs.get(this.one.currentRunId ?? newRunId())?.specVersion;
  }
}

const KEEPS = { keeps: { params: { word: "old" }, specVersion: 1 } };

describe("how a change reaches what runs", () => {
  const all = { word: true, onUpdate: true };
  it("is told where its service and its type know that, stopped where not, and nothing for labels", () => {
    expect(inputOf(["labels"], all)).toBeUndefined();
    expect(inputOf(["params", "retry", "silence"], all)).toBe("tell-update");
    expect(inputOf(["params", "pool"], all)).toBe("update");
    expect(inputOf(["params"], { word: true, onUpdate: false })).toBe("update");
    expect(inputOf(["silence"], { word: true, onUpdate: false })).toBe("tell-update");
    expect(inputOf(["silence"], { word: false, onUpdate: false })).toBe("update");
    // Nothing runs: what comes is told of silence; params need another message.
    expect([inputOf(["silence"], undefined), inputOf(["params"], undefined)]).toEqual(["tell-update", "update"]);
  });
});

describe("a run that is told what is wanted", () => {
  it("is told until it has answered, stays current, and runs by that version then", () => {
    const told = new Told();
    told.change(["params"]);
    expect([told.one.status, told.one.pending, told.orders().length, told.orders("stop").length]).toEqual([
      "Processing",
      null,
      1,
      0,
    ]);
    told.answer(2, "applied");
    expect([told.observed, told.orders(), told.one.revision, told.one.currentRunId]).toEqual([2, [], 1, told.run.runId]);
    expect(told.books.runs.get(told.run.runId)?.story).toEqual([
      { kind: "updated", atMs: 1_000, text: "runs by version 2" },
    ]);
    told.answer(2, "applied");
    expect(told.books.runs.get(told.run.runId)?.story).toHaveLength(1);
  });

  it("goes on being told when its answer is of an older version", () => {
    const told = new Told();
    told.change(["params"]);
    told.change(["params"]);
    told.answer(2, "applied");
    expect([told.observed, told.orders().length]).toEqual([2, 1]);
    told.answer(2, "rejected", { reason: "late", ...KEEPS });
    expect([told.one.rejectedUpdate, told.orders().length]).toEqual([null, 1]);
    told.answer(3, "applied");
    expect([told.observed, told.orders()]).toEqual([3, []]);
  });

  it("that rejects it keeps what it has; that is shown, and it is not told again, nor is its successor", () => {
    const told = new Told();
    told.change(["params"]);
    told.answer(2, "rejected", { reason: "too much", ...KEEPS });
    expect([told.observed, told.orders(), told.one.rejectedUpdate]).toEqual([
      1,
      [],
      { specVersion: 2, reason: "too much", atMs: 1_000, ...KEEPS },
    ]);
    const heir = newServiceId();
    told.knows(heir, ["hot-update"]);
    told.say(told.service, [{ kind: "RunReleased", ...told.run, at: 2_000, reason: "lease-lost" }]);
    const next = { ...told.run, runId: newRunId() };
    told.start(next, 1, heir);
    expect([told.one.currentRunId, told.orders(), told.one.rejectedUpdate?.specVersion]).toEqual([next.runId, [], 2]);
  });

  it("that has rejected params is told of silence, and asked once more; labels change nothing of it", () => {
    const told = new Told();
    told.change(["params"]);
    told.answer(2, "rejected", { reason: "too much", ...KEEPS });
    told.change(["labels"], null);
    expect([told.one.specVersion, told.orders().length, told.one.rejectedUpdate?.specVersion]).toEqual([3, 0, 2]);
    told.change(["silence"]);
    // Until it has answered, a successor is given what is kept.
    expect([told.orders().length, told.one.rejectedUpdate?.specVersion]).toEqual([1, 2]);
    told.answer(4, "rejected", { reason: "still", ...KEEPS });
    expect([told.orders().length, told.one.rejectedUpdate?.specVersion]).toEqual([0, 4]);
    told.change(["params"]);
    expect([told.one.rejectedUpdate, told.orders().length]).toEqual([null, 1]);
  });

  it("that has rejected them begins again with them when somebody restarts it", () => {
    const told = new Told();
    told.change(["params"]);
    told.answer(2, "rejected", { reason: "too much", ...KEEPS });
    expect(ask(told.books, told.one, "restart", ROOM_FOR_ALL)).toEqual({ changes: true });
    expect([told.one.pending, told.one.rejectedUpdate, told.orders("stop").length]).toEqual(["update", null, 1]);
    told.say(told.service, [stopped(told.run)]);
    expect([told.one.status, told.one.sentSpecVersion]).toEqual(["Created", 2]);
  });

  it("that begins again in place goes with its order; its successor is told, if it is behind", () => {
    const told = new Told();
    told.change(["params"]);
    const next = { ...told.run, runId: newRunId() };
    told.say(told.service, [{ ...stopped(told.run), reason: "restarted" } as ReturnType<typeof stopped>]);
    expect(told.orders()).toEqual([]);
    told.start(next, 1);
    expect(told.orders()).toMatchObject([{ runId: next.runId }]);
    const { observerId, runId, messageId, revision } = next;
    const identity = { observerId, runId, messageId, revision, at: 3_000 };
    told.say(told.service, [{ kind: "RunUpdated", ...identity, specVersion: 2, outcome: "applied" }]);
    expect([told.orders(), told.observed]).toEqual([[], 2]);
  });

  it("a run that is behind on a service that does not know it is stopped, and sent again", () => {
    const told = new Told();
    const old = newServiceId();
    told.knows(old, []);
    told.say(told.service, [{ kind: "RunReleased", ...told.run, at: 2_000, reason: "lease-lost" }]);
    told.change(["silence"]);
    expect(told.orders()).toEqual([]);
    told.start({ ...told.run, runId: newRunId() }, 1, old);
    expect([told.one.pending, told.orders().length, told.orders("stop").length]).toEqual(["update", 0, 1]);
  });

  it("being stopped is told nothing more; where that is taken back, only what is behind begins again", () => {
    const told = new Told();
    told.change(["params"]);
    told.answer(2, "applied");
    expect(isBehind(told.one, told.books.runs.get(told.run.runId))).toBe(false);
    ask(told.books, told.one, "pause", ROOM_FOR_ALL);
    ask(told.books, told.one, "resume", ROOM_FOR_ALL);
    expect([told.one.status, told.one.pending, told.orders("stop")]).toEqual(["Processing", null, []]);
    ask(told.books, told.one, "pause", ROOM_FOR_ALL);
    told.change(["params"]);
    expect(told.one.pending).toBe("pause");
    ask(told.books, told.one, "resume", ROOM_FOR_ALL);
    expect(told.one.pending).toBe("update");
  });

  it("that begins again by another version, as its handler ended before it had answered, is written with that", () => {
    const told = new Told();
    told.change(["params"]);
    told.books.changedRuns.clear(); // as the transaction before has written it
    told.say(told.service, [{ ...started(told.run), specVersion: 2, attempt: 2 } as ReturnType<typeof started>]);
    expect([...told.books.changedRuns].map(({ id, specVersion }) => [id, specVersion])).toEqual([[told.run.runId, 2]]);
    told.books.changedRuns.clear();
    told.say(told.service, [started(told.run)]); // says no version, as with each beat after a silence
    expect([told.observed, told.books.changedRuns.size]).toEqual([2, 0]);
  });

  it("of restored books says a higher version: it is shown, and the next change is above both", () => {
    const told = new Told();
    told.answer(7, "applied");
    expect([told.observed, told.one.specVersion]).toEqual([7, 1]);
    told.change(["params"]);
    expect([told.one.specVersion, told.orders().length]).toEqual([8, 1]);
  });

  it("of restored books says it in an inventory, too: a run that nobody asks says nothing else", () => {
    const told = new Told();
    const { observerId, runId, messageId, revision } = told.run;
    const listed = { observerId, runId, messageId, revision, attempt: 1, specVersion: 7 };
    const inventory = { kind: "Inventory", at: 1, inventoryId: newRunId(), part: 1, parts: 1, runs: [listed] };
    told.say(told.service, [inventory as ServiceEvent]);
    expect([told.observed, told.one.specVersion]).toEqual([7, 1]);
    told.change(["params"]);
    expect([told.one.specVersion, told.orders().length]).toEqual([8, 1]);
  });

  it("of an observer or a run that the books do not know is no reason to fall over", () => {
    const told = new Told();
    const stranger = { ...told.run, runId: newRunId(), messageId: newMessageId(), revision: 0 };
    told.say(told.service, [{ kind: "RunUpdated", ...stranger, at: 1, specVersion: 2, outcome: "applied" }]);
    expect([told.one.currentRunId, told.stopOf(stranger.runId)?.reason]).toEqual([told.run.runId, "obsolete"]);
  });
});
