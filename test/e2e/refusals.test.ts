import type { ObserverView, ProblemDetails } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshSystem, type ObserverOrProblem, type System } from "../support/system/system.ts";

describe("what REST refuses", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("service-1", { workers: 3 });
  });
  afterAll(() => system.close());

  const remove = (ref: string, query = "") => system.call<ObserverOrProblem>("DELETE", `/api/v1/observers/${ref}${query}`);

  it("a second delete while the first is under way, and after it", async () => {
    const [observer] = (await system.createMany("slow", 1, { stopDelayMs: 5_000 })) as [ObserverView];
    expect((await remove("slow-0")).body.status).toBe("OnDeleting");
    const second = await remove(observer.id);
    expect([second.status, second.body.code]).toEqual([409, "already-deleting"]);
    await system.untilStatus([observer.id], "Deleted");
    const third = await remove(observer.id);
    expect([third.status, third.body.code]).toEqual([409, "already-deleted"]);
    expect((await remove("nobody")).body.code).toBe("observer-not-found");
    await system.check();
  });

  it("a delete of an observer that nobody has yet, unless it is forced", async () => {
    await system.createMany("taking", 3);
    const { body: waiting } = await system.create("waiting", {}, { whenFull: "queue" });
    const refused = await remove(waiting.id);
    expect([refused.status, refused.body.code]).toEqual([409, "not-activated"]);
    const forced = await remove(waiting.id, "?force=true");
    expect([forced.status, forced.body.status]).toEqual([202, "Deleted"]);
    system.mayStartOnceMore(waiting.id);
    // Its message is still in the queue: when a worker is free it starts, and is stopped as soon as the manager hears of it.
    await system.remove("taking-0");
    await eventually(async () => {
      expect(await system.management.queue("unacked.work.default")).toMatchObject({ ready: 0, unacked: 2 });
    });
    expect((await system.get(waiting.id)).status).toBe("Deleted");
    for (const name of ["taking-1", "taking-2"]) await system.remove(name);
  });

  it("a name that is taken, an id that is taken, and accepts the same request again", async () => {
    const id = "0190b7c8-1111-7000-8000-000000000001";
    const first = await system.create("unique", { everyMs: 20 }, { id });
    expect(first.status).toBe(201);
    expect(first.headers.get("location")).toBe(`/api/v1/observers/${id}`);
    const again = await system.create("unique", { everyMs: 20 }, { id });
    expect([again.status, again.body.id]).toEqual([200, id]);
    const other = await system.create("unique-2", {}, { id });
    expect([other.status, other.body.code]).toEqual([409, "id-taken"]);
    const sameName = await system.create("unique");
    expect([sameName.status, sameName.body.code]).toEqual([409, "name-taken"]);
    await system.untilStatus([id], "Processing");
    await system.check();
  });

  it("gives one of twenty simultaneous requests the name", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => system.create("contested", {}, { whenFull: "queue" })),
    );
    expect(answers.map((one) => one.status).toSorted()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    await system.untilStatus(["contested"], "Processing");
    await system.check();
  });

  it("a type nobody knows, and params that the type's schema refuses, each with its path", async () => {
    const unknown = await system.call<ProblemDetails>("POST", "/api/v1/observers", {
      name: "x",
      type: "no-such-type",
      params: {},
    });
    expect([unknown.status, unknown.body.code, unknown.body.knownTypes]).toEqual([422, "unknown-type", ["stamp"]]);
    const bad = await system.create("y", { everyMs: "often", colour: "red" });
    expect(bad.status).toBe(422);
    expect(bad.body.errors?.map((one) => one.pointer).toSorted()).toEqual(["/params/colour", "/params/everyMs"]);
  });
});
