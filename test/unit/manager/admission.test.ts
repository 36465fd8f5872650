import { FencingToken, newServiceId, type ServiceEvent } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type { ObserverBook } from "../../../services/observer-manager/src/domain/books/observer-book.ts";
import { applyInput } from "../../../services/observer-manager/src/domain/observers/observer-input.ts";
import { completed, type RunIdentity, runOf, Scene, started } from "./books-fixture.ts";

const CLOCK_MS = 1_795_000_000_000;
const asks = (run: RunIdentity): ServiceEvent => ({ kind: "RunRequested", ...run, at: 1_000 });
const startedWith = (run: RunIdentity, fencingToken: number): ServiceEvent =>
  ({ ...started(run), fencingToken }) as ServiceEvent;
const inventory = (runs: (RunIdentity & { requested?: boolean; fencingToken?: number })[]): ServiceEvent => ({
  kind: "Inventory",
  at: 1_000,
  inventoryId: "01932f5b-1d22-7b63-9a1f-6c8dab2e3f01",
  part: 1,
  parts: 1,
  runs: runs.map((run) => ({ attempt: 1, ...run })),
});

describe("the books, asked whether a run may start", () => {
  const [a, b] = [newServiceId(), newServiceId()];
  const kinds = (scene: Scene) => scene.wanted.map(({ kind }) => kind);
  const stateOf = (scene: Scene, { runId }: RunIdentity) => scene.books.runs.get(runId)?.state;
  const waiting = (changes: Partial<ObserverBook> = {}) => {
    const scene = new Scene();
    const observer = scene.observer({ clockMs: CLOCK_MS, ...changes });
    return { scene, observer, run: runOf(observer) };
  };

  it("admit it, and hold it for current only when it has started", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [asks(run)]);
    expect(kinds(scene)).toEqual(["admit"]);
    expect(observer).toMatchObject({ status: "Created", currentRunId: null, requestedRunId: run.runId });
    expect(stateOf(scene, run)).toBe("Requested");
    scene.say(a, [startedWith(run, CLOCK_MS)]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: run.runId, requestedRunId: null });
    expect(kinds(scene)).toEqual([]);
  });

  it("hold it for current, too, when it says that it was admitted and waits for a slot", () => {
    const { scene, observer, run } = waiting();
    const error = { name: "NoSlotError", message: "no slot is free" };
    scene.say(a, [asks(run)]);
    scene.say(a, [{ kind: "RunRetrying", ...run, at: 2_000, attempt: 1, error, delayMs: 0 }]);
    const waits = { status: "Retrying", currentRunId: run.runId, requestedRunId: null, lastError: error };
    expect(observer).toMatchObject(waits);
    expect(kinds(scene)).toEqual([]);
    // As it has not begun, it counts as asking at its service.
    scene.say(a, [inventory([{ ...run, requested: true }]), asks(run)]);
    expect(observer).toMatchObject(waits);
    expect(kinds(scene)).toEqual([]);
    scene.say(a, [startedWith(run, CLOCK_MS)]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: run.runId, fencingToken: CLOCK_MS });
  });

  it("count once that it waits for a slot, however often it says so", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [asks(run)]);
    const error = { name: "NoSlotError", message: "no slot is free" };
    const waits = { kind: "RunRetrying", ...run, attempt: 1, error, delayMs: 0 } as const;
    scene.say(a, [{ ...waits, at: 2_000 }]);
    scene.say(a, [{ ...waits, at: 7_000 }]);
    expect(observer).toMatchObject({ status: "Retrying", attempts: 1, lastError: error });
    expect(scene.books.runs.get(run.runId)?.story).toHaveLength(1);
  });

  it("let it end unbegun where it waits for a slot, and was told to", () => {
    const error = { name: "NoSlotError", message: "no slot is free" };
    for (const [input, ends] of [
      ["delete", "Deleted"],
      ["pause", "Paused"],
    ] as const) {
      const { scene, observer, run } = waiting();
      scene.say(a, [asks(run)]);
      scene.say(a, [{ kind: "RunRetrying", ...run, at: 2_000, attempt: 1, error, delayMs: 0 }]);
      applyInput(scene.books, observer, input);
      expect(kinds(scene)).toEqual(["stop"]);
      scene.say(a, [{ kind: "RunStopped", ...run, at: 3_000, reason: "stopped" }]);
      expect(observer).toMatchObject({ status: ends, currentRunId: null, requestedRunId: null });
    }
  });

  it("give a fencing token that is higher than any before, and PostgreSQL's clock at least", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [asks(run)]);
    expect(observer.fencingToken).toBe(CLOCK_MS);
    scene.say(a, [asks(run)]); // asked again, answered with the same
    expect(observer.fencingToken).toBe(CLOCK_MS);
    // The keeper has admitted successors by itself.
    scene.say(a, [startedWith(runOf(observer, { messageId: run.messageId }), CLOCK_MS + 999)]);
    scene.say(b, [asks(runOf(observer, { messageId: run.messageId, deliveryCount: 1 }))]);
    expect(observer.fencingToken).toBe(CLOCK_MS + 1_999);
  });

  it("take over a fencing token that only a service knows: they may come from an older dump", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [inventory([{ ...run, fencingToken: CLOCK_MS + 5_000 }])]);
    expect(observer).toMatchObject({ currentRunId: run.runId, fencingToken: CLOCK_MS + 5_000 });
  });

  it.each([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 999, 8_640_000_000_000_000])(
    "go on admitting when a service tells the token %i, than which soon no number is higher",
    (told) => {
      const { scene, observer, run } = waiting();
      scene.say(a, [startedWith(run, told)]);
      expect(observer.currentRunId).toBe(run.runId);
      let last = observer.fencingToken ?? 0;
      for (let count = 1; count <= 10; count += 1) {
        const heir = runOf(observer, { messageId: run.messageId, deliveryCount: count });
        scene.say(b, [asks(heir)]);
        // What the service that is told it will take.
        expect(FencingToken.safeParse(observer.fencingToken).success).toBe(true);
        expect(observer.fencingToken).toBeGreaterThan(last);
        last = (observer.fencingToken ?? 0) + 999;
        scene.say(b, [startedWith(heir, last)]);
        expect([observer.currentRunId, observer.fencingToken]).toEqual([heir.runId, last]);
      }
    },
  );

  it("count a run that an inventory lists as asking as one that asks", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [inventory([{ ...run, requested: true }])]);
    expect(kinds(scene)).toEqual(["admit"]);
    expect(observer).toMatchObject({ status: "Created", requestedRunId: run.runId, currentRunId: null });
    // An older dump, in which it had not begun yet.
    scene.say(a, [inventory([{ ...run, fencingToken: CLOCK_MS + 1 }])]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: run.runId, requestedRunId: null });
  });

  it("admit it beside a run whose message it has been given since, which stays current until then", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [startedWith({ ...run, deliveryCount: 0 }, CLOCK_MS)]);
    const heir = runOf(observer, { messageId: run.messageId, deliveryCount: 1 });
    scene.say(b, [asks(heir)]);
    expect(kinds(scene)).toEqual(["admit"]);
    expect(observer.currentRunId).toBe(run.runId);
    scene.say(b, [startedWith(heir, CLOCK_MS + 1_000)]);
    expect(observer.currentRunId).toBe(heir.runId);
    expect(scene.stopOf(run.runId)?.reason).toBe("taken-back");
  });

  it.each([
    ["a stale one, whose message was given to the current run since", { deliveryCount: 0 }, "taken-back"],
    ["a second message of the revision", { messageId: "01932f5d-3f44-7d85-bc31-8eafcd405199" }, "duplicate"],
    ["an older revision", { revision: 1 }, "obsolete"],
  ])("stop it: %s", (_, changes, reason) => {
    const { scene, observer } = waiting({ revision: 2 });
    const current = runOf(observer, { deliveryCount: 1 });
    scene.say(a, [startedWith(current, CLOCK_MS)]);
    const late = runOf(observer, { messageId: current.messageId, ...(changes as Partial<RunIdentity>) });
    scene.say(b, [asks(late)]);
    expect(scene.stopOf(late.runId)?.reason).toBe(reason);
    expect(observer).toMatchObject({ currentRunId: current.runId, requestedRunId: null });
  });

  it.each(["Deleted", "Failed", "Completed", "Paused", "Scheduled"] as const)(
    "stop it where the observer is %s",
    (status) => {
      const { scene, observer, run } = waiting({ status });
      scene.say(a, [asks(run)]);
      expect(scene.stopOf(run.runId)?.reason).toBe("not-wanted");
      expect(observer.status).toBe(status);
    },
  );

  it("say the broadcast stop again where it is being deleted, paused or changed, and end it by the answer", () => {
    for (const [changes, ends] of [
      [{ status: "OnDeleting" }, "Deleted"],
      [{ status: "Created", pending: "pause" }, "Paused"],
      [{ status: "Created", pending: "update" }, "Created"],
    ] as const) {
      const { scene, observer, run } = waiting(changes);
      scene.say(a, [asks(run)]);
      expect(kinds(scene)).toEqual(["stop"]);
      scene.say(a, [{ kind: "RunStopped", ...run, at: 2_000, reason: "stopped" }]);
      expect(observer.status).toBe(ends);
    }
  });

  it("let nothing start that was deleted while it asked", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [asks(run)]);
    applyInput(scene.books, observer, "force-delete");
    expect(kinds(scene)).toEqual(["stop-run"]);
    expect([observer.status, observer.requestedRunId, scene.stopOf(run.runId)?.reason]).toEqual([
      "Deleted",
      null,
      "not-wanted",
    ]);
  });

  it("forget what they meant to say when it has ended unbegun", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [asks(run)]);
    scene.say(a, [{ kind: "RunReleased", ...run, at: 2_000, reason: "lease-lost" }]);
    expect(kinds(scene)).toEqual([]);
    expect([observer.status, observer.requestedRunId, stateOf(scene, run)]).toEqual(["Created", null, "Ended"]);
  });

  it("admit the later of two that ask with one message, and ask the other", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [asks(run)]);
    const heir = runOf(observer, { messageId: run.messageId });
    scene.say(b, [asks(heir)]);
    expect(observer.requestedRunId).toBe(heir.runId);
    expect(scene.stopOf(run.runId)?.reason).toBe("superseded");
    scene.say(a, [asks(run)]); // it holds its message still, so the other was stale
    expect(observer.requestedRunId).toBe(run.runId);
    expect([scene.stopOf(run.runId), scene.stopOf(heir.runId)?.reason]).toEqual([undefined, "superseded"]);
  });

  it("are not led on by a run that has ended: its observer's next message is not its own", () => {
    const { scene, observer, run } = waiting();
    scene.say(a, [startedWith(run, CLOCK_MS), completed(run)]);
    scene.say(a, [asks(run)]);
    expect(observer).toMatchObject({ status: "Completed", requestedRunId: null });
    expect(scene.stopOf(run.runId)?.reason).toBe("not-wanted");
  });
});
