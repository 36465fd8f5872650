import { newMessageId, newServiceId } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import {
  completed,
  failed,
  held,
  newServices,
  released,
  retrying,
  runOf,
  Scene,
  started,
  stopped,
} from "./books-fixture.ts";

describe("who is current", () => {
  it("takes the first run of a created observer", () => {
    const scene = new Scene();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(newServiceId(), [started(run)]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: run.runId, runNumber: 1, attempts: 1 });
  });

  it("makes the newer run of one message current and tells the older that it is superseded", () => {
    const scene = new Scene();
    const [a, b] = newServices();
    const observer = scene.observer();
    const older = runOf(observer);
    const newer = runOf(observer, { messageId: older.messageId });
    scene.say(a, [started(older)]);
    scene.say(b, [started(newer)]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: newer.runId, runNumber: 2 });
    expect(scene.stopOf(older.runId)).toMatchObject({ serviceId: a, reason: "superseded" });
  });

  it("ends the older at once where its connection is known to be dead, and stops it where another one of its service is", () => {
    const scene = new Scene();
    const [a, b] = newServices();
    const observers = [scene.observer(), scene.observer()];
    const [of1, of2] = observers.map((observer) => runOf(observer)) as [ReturnType<typeof runOf>, ReturnType<typeof runOf>];
    scene.say(a, [started(of1)]);
    scene.say(a, [started(of2)], { generation: 2 });
    scene.books.isDead = ({ serviceId, generation }) => serviceId === a && generation === 1;
    const heirs = [of1, of2].map((older, i) => runOf(observers[i] as (typeof observers)[0], { messageId: older.messageId }));
    scene.say(
      b,
      heirs.map((heir) => started(heir)),
    );
    expect(observers.map(({ status, currentRunId }) => [status, currentRunId])).toEqual(
      heirs.map(({ runId }) => ["Processing", runId]),
    );
    expect(scene.books.runs.get(of1.runId)).toMatchObject({ state: "Ended", endReason: "service-gone" });
    expect(scene.stopOf(of1.runId)).toBeUndefined();
    expect(scene.stopOf(of2.runId)).toMatchObject({ reason: "superseded" });
    // The certificate, when its turn has come, finds nothing left of the one and ends the other only if it is of its connection.
    scene.apply({ kind: "DeathCertificate", serviceId: a, generation: 1 });
    expect(observers.map(({ status }) => status)).toEqual(["Processing", "Processing"]);
  });

  it("ends the other of two messages of one revision as a duplicate", () => {
    const scene = new Scene();
    const [a, b] = newServices();
    const observer = scene.observer();
    const first = runOf(observer);
    const second = runOf(observer);
    scene.say(a, [started(first)]);
    scene.say(b, [started(second)]);
    expect(observer.currentRunId).toBe(second.runId);
    expect(scene.stopOf(first.runId)).toMatchObject({ reason: "duplicate" });
    scene.say(a, [stopped(first, "duplicate")]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: second.runId });
  });

  it("stops a run of a revision below the books'", () => {
    const scene = new Scene();
    const observer = scene.observer({ revision: 3 });
    const run = runOf(observer, { revision: 2 });
    scene.say(newServiceId(), [started(run)]);
    expect(observer).toMatchObject({ status: "Created", currentRunId: null });
    expect(scene.stopOf(run.runId)).toMatchObject({ reason: "obsolete" });
  });

  it("makes a superseded run current again only when it answers RunHeld", () => {
    const scene = new Scene();
    const [a, b] = newServices();
    const observer = scene.observer();
    const holder = runOf(observer);
    const late = runOf(observer, { messageId: holder.messageId });
    scene.say(a, [started(holder)]);
    scene.say(b, [started(late)]);
    scene.say(a, [started(holder)]);
    expect(observer.currentRunId).toBe(late.runId);
    scene.say(a, [held(holder)]);
    expect(observer.currentRunId).toBe(holder.runId);
    expect(scene.stopOf(holder.runId)).toBeUndefined();
    expect(scene.stopOf(late.runId)).toMatchObject({ serviceId: b, reason: "superseded" });
    scene.say(b, [stopped(late, "superseded")]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: holder.runId });
  });

  it("is the run to which the broker gave the message last, in whatever order they are heard of", () => {
    for (const order of ["as it was", "reversed"]) {
      const scene = new Scene();
      const [a, b] = newServices();
      const observer = scene.observer();
      const older = runOf(observer, { deliveryCount: 0 });
      const newer = runOf(observer, { messageId: older.messageId, deliveryCount: 1 });
      const words = [() => scene.say(a, [started(older)]), () => scene.say(b, [started(newer)])];
      for (const say of order === "reversed" ? words.reverse() : words) say();
      expect(observer, order).toMatchObject({ status: "Processing", currentRunId: newer.runId });
      expect(scene.stopOf(older.runId), order).toMatchObject({ serviceId: a, reason: "taken-back" });
      expect(scene.stopOf(newer.runId), order).toBeUndefined();
    }
  });

  it("is not the run that holds a message which the broker has given to another since", () => {
    const scene = new Scene();
    const [a, b] = newServices();
    const observer = scene.observer();
    const older = runOf(observer, { deliveryCount: 2 });
    const newer = runOf(observer, { messageId: older.messageId, deliveryCount: 3 });
    scene.say(a, [started(older)]);
    scene.say(b, [started(newer)]);
    scene.say(a, [held(older)]);
    expect(observer.currentRunId).toBe(newer.runId);
    expect(scene.stopOf(older.runId)).toMatchObject({ serviceId: a, reason: "taken-back" });
    scene.say(a, [released(older)]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: newer.runId });
    expect(scene.books.runs.get(older.runId)).toMatchObject({ state: "Ended", endReason: "lease-lost" });
  });

  it("is decided without counts where one of them is not known, or the messages are two", () => {
    for (const [older, newer, reason] of [
      [{}, { deliveryCount: 1 }, "superseded"],
      [{ deliveryCount: 1 }, {}, "superseded"],
      [{ deliveryCount: 1 }, { deliveryCount: 0, messageId: newMessageId() }, "duplicate"],
    ] as const) {
      const scene = new Scene();
      const [a, b] = newServices();
      const observer = scene.observer();
      const first = runOf(observer, older);
      const second = runOf(observer, { messageId: first.messageId, ...newer });
      scene.say(a, [started(first)]);
      scene.say(b, [started(second)]);
      expect(observer.currentRunId).toBe(second.runId);
      expect(scene.stopOf(first.runId)).toMatchObject({ reason });
    }
  });

  it("lets no late word of an old run change the living one", () => {
    for (const word of [retrying, failed, completed, stopped, released]) {
      const scene = new Scene();
      const [a, b] = newServices();
      const observer = scene.observer();
      const old = runOf(observer);
      const living = runOf(observer, { messageId: old.messageId });
      scene.say(a, [started(old)]);
      scene.say(b, [started(living)]);
      scene.say(a, [word(old)]);
      expect(observer, word.name).toMatchObject({ status: "Processing", currentRunId: living.runId, lastError: null });
    }
  });

  it("stops whatever run appears of an observer that is over, and leaves its state", () => {
    for (const status of ["Deleted", "Failed", "Completed"] as const) {
      const scene = new Scene();
      const observer = scene.observer({ status });
      const run = runOf(observer);
      scene.say(newServiceId(), [started(run)]);
      expect(observer).toMatchObject({ status, currentRunId: null });
      expect(scene.stopOf(run.runId)).toMatchObject({ reason: "not-wanted" });
      scene.say(newServiceId(), [held(run)]);
      expect(observer).toMatchObject({ status, currentRunId: null });
    }
  });

  it("hastens the stop when a run appears while the observer is being deleted", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer({ status: "OnDeleting" });
    const run = runOf(observer);
    scene.say(service, [started(run)]);
    expect(observer).toMatchObject({ status: "OnDeleting", currentRunId: run.runId });
    expect(scene.wanted).toContainEqual({ kind: "stop", observerId: observer.id, revision: 1 });
    scene.say(service, [stopped(run)]);
    expect(observer).toMatchObject({ status: "Deleted", currentRunId: null });
    expect(scene.wanted).toEqual([]);
  });

  it("takes an end that arrives alone for a start and an end", () => {
    const scene = new Scene();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(newServiceId(), [failed(run)]);
    expect(observer).toMatchObject({ status: "Failed", runNumber: 1, currentRunId: null, lastError: { message: "boom" } });
    expect(scene.books.runs.get(run.runId)).toMatchObject({ state: "Ended", endReason: "failed" });
  });

  it("redistributes when the current run was released, and takes the next", () => {
    const scene = new Scene();
    const [a, b] = newServices();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(a, [started(run), released(run, "draining")]);
    expect(observer).toMatchObject({ status: "Redistributing", currentRunId: null });
    const next = runOf(observer, { messageId: run.messageId });
    scene.say(b, [started(next)]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: next.runId, runNumber: 2 });
  });

  it("sends again, later and with a higher revision, what a service did not know", () => {
    const scene = new Scene();
    const observer = scene.observer();
    scene.say(newServiceId(), [
      {
        kind: "StartRefused",
        observerId: observer.id,
        messageId: newMessageId(),
        revision: 1,
        at: 1,
        reason: "unknown-type",
      },
    ]);
    expect(observer).toMatchObject({ status: "Created", revision: 2, lastError: { name: "UnknownType" } });
    expect(scene.wanted).toEqual([
      { kind: "start", observerId: observer.id, revision: 2, delayMs: 60_000, reason: "unknown-type" },
    ]);
    scene.say(newServiceId(), [started(runOf(observer))]);
    expect(observer).toMatchObject({ status: "Processing", lastError: null });
  });

  it("deletes when a start was refused because of the stop", () => {
    const scene = new Scene();
    const observer = scene.observer({ status: "OnDeleting", revision: 2 });
    const refused = {
      kind: "StartRefused",
      observerId: observer.id,
      messageId: newMessageId(),
      at: 1,
      reason: "stopped",
    } as const;
    scene.say(newServiceId(), [{ ...refused, revision: 1 }]);
    expect(observer.status).toBe("OnDeleting");
    scene.say(newServiceId(), [{ ...refused, revision: 2 }]);
    expect(observer.status).toBe("Deleted");
  });

  it.each([
    ["superseded", {}],
    ["taken-back", { deliveryCount: 0 }],
  ] as const)(
    "deletes when its message was refused elsewhere, though its run is held for current: the run is told that it is %s",
    (reason, counted) => {
      const scene = new Scene();
      const [holder, refuser] = [newServiceId(), newServiceId()];
      const observer = scene.observer();
      const run = runOf(observer, counted);
      scene.say(holder, [started(run)]);
      observer.status = "OnDeleting";
      const refused = { kind: "StartRefused", observerId: observer.id, revision: 1, at: 1, reason: "stopped" } as const;
      scene.say(refuser, [{ ...refused, messageId: newMessageId() }]);
      expect(observer).toMatchObject({ status: "OnDeleting", currentRunId: run.runId });
      scene.say(refuser, [{ ...refused, messageId: run.messageId }]);
      expect(observer).toMatchObject({ status: "Deleted", currentRunId: null });
      expect(scene.stopOf(run.runId)).toMatchObject({ serviceId: holder, reason });
      scene.say(holder, [held(run)]);
      expect(observer).toMatchObject({ status: "Deleted", currentRunId: null });
      expect(scene.stopOf(run.runId)).toMatchObject({ serviceId: holder, reason: "not-wanted" });
    },
  );

  it("lets no run go on that holds a message which was refused elsewhere, and is sent again", () => {
    for (const reason of ["stopped", "unknown-type"] as const) {
      const scene = new Scene();
      const [holder, refuser] = newServices();
      const observer = scene.observer();
      const run = runOf(observer);
      scene.say(holder, [started(run)]);
      const refused = { kind: "StartRefused", observerId: observer.id, messageId: run.messageId, at: 1, reason } as const;
      scene.say(refuser, [{ ...refused, revision: 1 }]);
      expect(scene.stopOf(run.runId), reason).toMatchObject({ serviceId: holder, reason: "superseded" });
      scene.say(holder, [held(run)]);
      expect(observer, reason).toMatchObject({ status: "Created", currentRunId: null, revision: 2 });
      expect(scene.stopOf(run.runId), reason).toMatchObject({ serviceId: holder, reason: "obsolete" });
    }
  });

  it("pauses by the end of its run, having stopped whatever run appeared meanwhile", () => {
    const scene = new Scene();
    const [a, b] = newServices();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(a, [started(run), retrying(run)]);
    observer.pending = "pause";
    scene.say(a, [released(run)]);
    expect(observer).toMatchObject({ status: "Redistributing", pending: "pause", nextAttemptInMs: null });
    const next = runOf(observer, { messageId: run.messageId });
    scene.say(b, [started(next)]);
    expect(observer).toMatchObject({ status: "Processing", pending: "pause", currentRunId: next.runId });
    expect(scene.wanted).toContainEqual({ kind: "stop", observerId: observer.id, revision: 1 });
    scene.say(b, [stopped(next)]);
    expect(observer).toMatchObject({ status: "Paused", pending: null, currentRunId: null, revision: 1, runNumber: 2 });
    expect(scene.wanted).toEqual([]);
    expect(observer.lastError).toMatchObject({ message: "boom" });
  });

  it("pauses when its message was refused, by the stop or by a service that does not know the type: nothing is sent again", () => {
    for (const reason of ["stopped", "unknown-type"] as const) {
      const scene = new Scene();
      const observer = scene.observer({ pending: "pause" });
      const refused = { kind: "StartRefused", observerId: observer.id, messageId: newMessageId(), at: 1, reason } as const;
      scene.say(newServiceId(), [{ ...refused, revision: 1 }]);
      expect(observer).toMatchObject({ status: "Paused", pending: null, revision: 1, lastError: null });
      expect(scene.wanted).toEqual([]);
    }
  });

  it("sends again what has followed a stop that was taken back, be it stopped or refused elsewhere", () => {
    for (const isRefused of [false, true]) {
      const scene = new Scene();
      const [holder, other] = newServices();
      const observer = scene.observer();
      const run = runOf(observer);
      scene.say(holder, [started(run)]);
      const refused = { kind: "StartRefused", observerId: observer.id, revision: 1, at: 1, reason: "stopped" } as const;
      if (isRefused) scene.say(other, [{ ...refused, messageId: run.messageId }]);
      else scene.say(holder, [stopped(run)]);
      expect(observer).toMatchObject({ status: "Created", currentRunId: null, revision: 2 });
      expect(scene.wanted).toContainEqual({ kind: "start", observerId: observer.id, revision: 2, delayMs: 0 });
    }
  });

  it("keeps an error and the attempts while retrying, and the error after", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(service, [started(run), retrying(run, 2)]);
    expect(observer).toMatchObject({ status: "Retrying", attempts: 2, nextAttemptInMs: 50, lastError: { message: "boom" } });
    scene.say(service, [started(run, 3)]);
    expect(observer).toMatchObject({
      status: "Processing",
      attempts: 3,
      nextAttemptInMs: null,
      lastError: { message: "boom" },
    });
  });
});
