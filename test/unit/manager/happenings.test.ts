import { newMessageId, type ServiceEvent } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type { Happening } from "../../../services/observer-manager/src/domain/books/happening.ts";
import { newServices, released, runOf, Scene, started, stopped } from "./books-fixture.ts";

const failoversIn = ({ books }: Scene): number[] =>
  books.happened.flatMap((each) => (each.kind === "failed-over" ? [each.withoutRunMs] : []));
const kindsIn = ({ books }: Scene): Happening["kind"][] => books.happened.map(({ kind }) => kind);

describe("what happened, for metrics", () => {
  it("is a run that started, and no failover, when an observer runs for the first time", () => {
    const scene = new Scene();
    const [service] = newServices();
    scene.say(service, [started(runOf(scene.observer()))]);
    expect(kindsIn(scene)).toEqual(["run-started"]);
  });

  it("is a failover without a gap when the next run of a message is heard of before the death of the first", () => {
    const scene = new Scene();
    const [dead, heir] = newServices();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(dead, [started(run)]);
    scene.say(heir, [started(runOf(observer, { messageId: run.messageId }))]);
    expect(failoversIn(scene)).toEqual([0]);
    scene.apply({ kind: "DeathCertificate", serviceId: dead, generation: 1 });
    expect(scene.books.happened).toContainEqual({ kind: "service-ended", how: "Gone" });
    expect(scene.books.happened).toContainEqual({ kind: "run-ended", reason: "service-gone" });
    expect(failoversIn(scene)).toHaveLength(1);
  });

  it("is a failover with the time that the books knew of no run, when the loss was heard of first", () => {
    const scene = new Scene();
    const [service] = newServices();
    const observer = scene.observer({ status: "Redistributing", runNumber: 1, unchangedForMs: 2_500 });
    scene.say(service, [started(runOf(observer))]);
    expect(failoversIn(scene)).toEqual([2_500]);
  });

  it("is a failover without a gap when loss and next run come together", () => {
    const scene = new Scene();
    const [first, second] = newServices();
    const observer = scene.observer({ unchangedForMs: 60_000 });
    const run = runOf(observer);
    scene.say(first, [started(run), released(run, "draining")]);
    scene.say(second, [started(runOf(observer, { messageId: run.messageId }))]);
    expect(failoversIn(scene)).toEqual([0]);
  });

  it("is no failover when a run is restarted in place, or a new message is sent", () => {
    const scene = new Scene();
    const [service] = newServices();
    const observer = scene.observer();
    const run = runOf(observer);
    const restarted = runOf(observer, { messageId: run.messageId });
    scene.say(service, [started(run), stopped(run, "restarted"), started(restarted), stopped(restarted)]);
    expect(observer.status).toBe("Created");
    scene.say(service, [started(runOf(observer, { messageId: newMessageId(), revision: observer.revision }))]);
    expect(failoversIn(scene)).toEqual([]);
  });

  it("names what a run was given back for", () => {
    const scene = new Scene();
    const [service] = newServices();
    const run = runOf(scene.observer());
    scene.say(service, [started(run), { ...released(run, "draining"), typeGone: true } as ServiceEvent]);
    expect(scene.books.happened).toContainEqual({ kind: "run-ended", reason: "type-gone" });
  });

  it("names a duplicate once it has ended, and a second message that was dropped", () => {
    const scene = new Scene();
    const [first, second] = newServices();
    const observer = scene.observer();
    const run = runOf(observer);
    const kept = runOf(observer);
    scene.say(first, [started(run)]);
    scene.say(second, [started(kept)]);
    scene.say(first, [stopped(run, "duplicate")]);
    expect(scene.books.happened).toContainEqual({ kind: "run-ended", reason: "duplicate" });
    const { observerId, messageId, revision } = run;
    scene.say(second, [{ kind: "DuplicateDropped", observerId, messageId, revision, at: 1, keptRunId: kept.runId }]);
    expect(kindsIn(scene)).toContain("duplicate-dropped");
    expect(failoversIn(scene)).toEqual([]);
  });
});
