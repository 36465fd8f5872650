import { newServiceId, type ServiceEvent } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { completed, newServices, released, runOf, Scene, started, stopped } from "./books-fixture.ts";

const inventory = (runs: ReturnType<typeof runOf>[], changes: Partial<Extract<ServiceEvent, { kind: "Inventory" }>> = {}) =>
  ({
    kind: "Inventory",
    at: 1,
    inventoryId: "0190b7c8-0000-7000-8000-000000000001",
    part: 1,
    parts: 1,
    runs: runs.map((run) => ({ ...run, attempt: 1 })),
    ...changes,
  }) as const;

const born = (draining = false): ServiceEvent => ({
  kind: "ServiceBorn",
  at: 1,
  pool: "default",
  workerCount: 5,
  types: [],
  version: "1",
  host: "h",
  pid: 1,
  heartbeatMs: 1_000,
  draining,
  features: [],
});
const alive = (draining = false): ServiceEvent => ({
  kind: "ServiceAlive",
  at: 1,
  workerCount: 5,
  running: 0,
  memoryBytes: 0,
  eventLoopLagMs: 0,
  draining,
});

describe("sequence numbers", () => {
  it("skip a batch that was applied before", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(service, [started(run)], { seq: 1 });
    scene.say(service, [released(run)], { seq: 2 });
    expect(scene.say(service, [started(runOf(observer))], { seq: 2 })).toBe("old");
    expect(observer).toMatchObject({ status: "Redistributing", runNumber: 1 });
  });

  it("ask for an inventory when there is a gap", () => {
    const scene = new Scene();
    const service = newServiceId();
    scene.say(service, [], { seq: 1 });
    expect(scene.wanted).toEqual([]);
    scene.say(service, [], { seq: 3 });
    expect(scene.wanted).toEqual([{ kind: "report-inventory", serviceId: service, generation: 1 }]);
  });

  it("never take an unknown service for a duplicate", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    expect(scene.say(service, [started(runOf(observer))], { seq: 7 })).toBe("applied");
    expect(observer.status).toBe("Processing");
    expect(scene.wanted).toEqual([{ kind: "report-inventory", serviceId: service, generation: 1 }]);
  });
});

describe("what a service tells of its last broker session", () => {
  const loss = (kind: string) => ({ kind, detail: `404 by ${kind}`, remedy: "Mend it." });
  const lossAfter = (...kinds: (string | undefined)[]) => {
    const scene = new Scene();
    const service = newServiceId();
    for (const [i, kind] of kinds.entries())
      scene.say(service, [{ ...born(), ...(kind !== undefined && { brokerLoss: loss(kind) }) } as ServiceEvent], {
        generation: i + 1,
      });
    return scene.books.services.get(service)?.brokerLoss?.kind ?? null;
  };

  it("is over with the next session that ends without, or for another reason", () => {
    expect(lossAfter("channel-closed")).toBe("channel-closed");
    expect(lossAfter("channel-closed", undefined)).toBeNull();
    expect(lossAfter("channel-closed", "consumer-cancelled")).toBe("consumer-cancelled");
  });

  it("stays where the broker cuts jobs: it does so again, whatever ends a session meanwhile", () => {
    expect(lossAfter("consumer-timeout", undefined)).toBe("consumer-timeout");
    expect(lossAfter("consumer-timeout", "channel-closed")).toBe("consumer-timeout");
  });

  it("is no trouble where the set-up alone failed, which an older service tells: by its birth that is over", () => {
    expect(lossAfter("setup-failed")).toBeNull();
    expect(lossAfter("consumer-timeout", "setup-failed")).toBe("consumer-timeout");
  });
});

describe("a death certificate", () => {
  it("redistributes what the service ran, and leaves a deletion a deletion", () => {
    const scene = new Scene();
    const service = newServiceId();
    const [running, deleting] = [scene.observer(), scene.observer({ status: "OnDeleting" })];
    const run = runOf(running);
    scene.say(service, [started(run), started(runOf(deleting))]);
    scene.apply({ kind: "DeathCertificate", serviceId: service, generation: 1 });
    expect(scene.books.services.get(service)).toMatchObject({ state: "Gone" });
    expect(running).toMatchObject({ status: "Redistributing", currentRunId: null });
    expect(deleting).toMatchObject({ status: "OnDeleting", currentRunId: null });
    expect(scene.books.runs.get(run.runId)).toMatchObject({ state: "Ended", endReason: "service-gone" });
  });

  it("does not touch a service that has come back with a new connection", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    scene.say(service, [started(runOf(observer))], { generation: 2 });
    expect(scene.apply({ kind: "DeathCertificate", serviceId: service, generation: 1 })).toBe("old");
    expect(observer.status).toBe("Processing");
  });

  it("is taken back when the service speaks again: its inventory is asked for, whole", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(service, [started(run)]);
    scene.apply({ kind: "DeathCertificate", serviceId: service, generation: 1 });
    scene.say(service, [], {});
    expect(scene.books.services.get(service)).toMatchObject({ state: "Alive" });
    expect(scene.wanted).toContainEqual({ kind: "report-inventory", serviceId: service, generation: 1 });
    scene.say(service, [inventory([run])]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: run.runId });
  });

  it("still lets an end that was already confirmed count, when nobody else runs the observer", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(service, [started(run)]);
    scene.apply({ kind: "DeathCertificate", serviceId: service, generation: 1 });
    scene.say(service, [completed(run)]);
    expect(observer.status).toBe("Completed");
  });
});

describe("a rebirth under the same name", () => {
  it("raises a suspicion only: the namesake is probed, not buried", () => {
    const scene = new Scene();
    const [before, after] = newServices();
    scene.say(before, [], { serviceName: "service-1" });
    scene.books.namesakes.push({ id: before, name: "service-1", generation: 1 });
    scene.say(after, [born()], { serviceName: "service-1" });
    expect(scene.books.services.get(before)?.state).toBe("Alive");
    expect(scene.wanted).toEqual([{ kind: "probe", serviceId: before, generation: 1 }]);
  });
});

describe("a drain that was asked for", () => {
  /** A service in its second generation, asked to drain by the command that was written then. */
  function asked() {
    const scene = new Scene();
    const service = newServiceId();
    scene.say(service, [born()], { generation: 2 });
    const book = scene.books.services.get(service);
    if (book === undefined) throw new Error("the scene has no such service");
    book.drain = "asked";
    return { scene, service, book, order: (generation: number) => ({ kind: "drain", serviceId: service, generation }) };
  }

  it("waits for the answer of the service, and is forgotten then", () => {
    const { scene, service, book, order } = asked();
    scene.say(service, [alive(false)], { generation: 2 });
    expect([...scene.books.commands.values()]).toEqual([]);
    expect(book.drain).toBe("asked");
    scene.say(service, [alive(true)], { generation: 2 });
    expect([...scene.books.commands.values()]).toEqual([{ forget: order(2) }]);
    expect(book.drain).toBe("begun");
  });

  it("is written again for each connection that has not heard of it", () => {
    const { scene, service, book, order } = asked();
    scene.say(service, [born()], { generation: 3 });
    expect(scene.wanted).toEqual([order(3)]);
    scene.say(service, [born(true)], { generation: 4 });
    expect(scene.wanted).toEqual([order(3)]); // the row of a connection that is gone ends with its next sending
    expect(book.drain).toBe("begun");
  });

  it("is written again when a service that was given up speaks again", () => {
    const { scene, service, order } = asked();
    scene.apply({ kind: "DeathCertificate", serviceId: service, generation: 2 });
    expect(scene.wanted).toEqual([]);
    scene.say(service, [alive(false)], { generation: 2 });
    expect(scene.wanted).toContainEqual(order(2));
  });

  it("is not taken back by what was said before it was heard", () => {
    const { scene, service, book } = asked();
    scene.say(service, [alive(true), alive(false)], { generation: 2 });
    expect(book.drain).toBe("begun");
  });

  it("is taken back: of what it says the last word counts, also of what was asked and answered before", () => {
    const { scene, service, book } = asked();
    book.features = ["balance"];
    const cordoned = { ...alive(), cordoned: true } as ServiceEvent;
    scene.say(service, [alive(true)], { generation: 2 });
    book.drain = "lift-asked";
    scene.say(service, [alive(true)], { generation: 2 });
    expect(book.drain).toBe("lift-asked"); // said before it has heard of that
    scene.say(service, [alive(false)], { generation: 2 });
    expect(book.drain).toBe("none");
    // Cordoned and uncordoned before the books had read any of it.
    scene.say(service, [cordoned, alive(false)], { generation: 2 });
    expect(book.drain).toBe("none");
    book.drain = "cordon-asked";
    scene.say(service, [alive(false)], { generation: 2 });
    expect(book.drain).toBe("cordon-asked");
    scene.say(service, [cordoned], { generation: 2 });
    expect(book.drain).toBe("cordoned");
    expect(scene.books.commands.get(`cordon ${service} 2`)).toMatchObject({ forget: { kind: "cordon" } });
  });

  it("is known of a service that drains without having been asked", () => {
    const scene = new Scene();
    const service = newServiceId();
    scene.say(service, [born(true)]);
    expect(scene.books.services.get(service)?.drain).toBe("begun");
  });
});

describe("a load of its folder that was asked for", () => {
  const [first, second] = ["0190b7c8-0000-7000-8000-00000000000a", "0190b7c8-0000-7000-8000-00000000000b"];
  const ended = (reloadId: string): ServiceEvent => ({ kind: "ReloadEnded", at: 5, reloadId, outcome: "unchanged" });

  /** A service in its first generation, and the books as a manager loads them after it was asked. */
  function asked(reloadId: string) {
    const scene = new Scene();
    const service = newServiceId();
    scene.say(service, [born()]);
    const book = scene.books.services.get(service);
    if (book === undefined) throw new Error("the scene has no such service");
    const now = { ...book, reloadId };
    scene.books.services.set(service, now);
    const order = (generation: number) => ({ kind: "reload", serviceId: service, generation, reloadId });
    return { scene, service, book: now, order };
  }

  it("is answered by its own outcome alone, and its order is forgotten then", () => {
    const { scene, service, book } = asked(second);
    scene.say(service, [ended(first)]); // of the one before, which was still under way
    expect(book.reloadAnswer).toBeNull();
    expect([...scene.books.commands.values()]).toEqual([]);
    scene.say(service, [ended(second)]);
    expect(book.reloadAnswer).toEqual({ at: 5, outcome: "unchanged" });
    expect([...scene.books.commands.values()]).toEqual([
      { forget: expect.objectContaining({ kind: "reload", serviceId: service, generation: 1 }) },
    ]);
  });

  it("is ordered again of each connection that has not heard of it, until it is answered", () => {
    const { scene, service, order } = asked(first);
    scene.say(service, [born()], { generation: 2 });
    expect(scene.wanted).toEqual([order(2)]);
    scene.say(service, [ended(first)], { generation: 2 });
    expect(scene.wanted).toEqual([]);
    scene.say(service, [born()], { generation: 3 });
    expect(scene.wanted).toEqual([]);
  });

  it("is not ordered of a connection that is dead; of one that speaks again it is", () => {
    const { scene, service, order } = asked(first);
    scene.apply({ kind: "DeathCertificate", serviceId: service, generation: 1 });
    expect(scene.wanted).toEqual([]);
    scene.say(service, [alive()]);
    expect(scene.wanted).toContainEqual(order(1));
  });
});

describe("an inventory", () => {
  it("loses the runs that it does not list", () => {
    const scene = new Scene();
    const service = newServiceId();
    const [kept, missing] = [scene.observer(), scene.observer()];
    const keptRun = runOf(kept);
    scene.say(service, [started(keptRun), started(runOf(missing))]);
    scene.say(service, [inventory([keptRun])]);
    expect(kept.status).toBe("Processing");
    expect(missing.status).toBe("Redistributing");
  });

  it("concludes nothing before all its parts have come, and asks again when one was missed", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observers = [scene.observer(), scene.observer()];
    const runs = observers.map((observer) => runOf(observer));
    scene.say(
      service,
      runs.map((run) => started(run)),
    );
    scene.say(service, [inventory([runs[0] as (typeof runs)[0]], { parts: 2 })]);
    expect(observers.map((one) => one.status)).toEqual(["Processing", "Processing"]);
    const other = "0190b7c8-0000-7000-8000-000000000002";
    scene.say(service, [inventory([], { inventoryId: other, part: 2, parts: 2 })]);
    expect(observers.map((one) => one.status)).toEqual(["Processing", "Processing"]);
    expect(scene.wanted).toContainEqual({ kind: "report-inventory", serviceId: service, generation: 1 });
  });

  it("tells the run of an unknown observer to stop, by a command that is addressed to its service", () => {
    const scene = new Scene();
    const service = newServiceId();
    const run = runOf(new Scene().observer());
    scene.say(service, [inventory([run])]);
    expect(scene.wanted).toEqual([{ kind: "stop-run", ...run, serviceId: service, generation: 1, reason: "unknown" }]);
  });

  it("stops a run that it lists after its end, where another one is current, through the connection by which it is heard", () => {
    const scene = new Scene();
    const [holder, heir] = newServices();
    const observer = scene.observer();
    const run = runOf(observer);
    const next = runOf(observer, { messageId: run.messageId });
    scene.say(holder, [started(run)]);
    scene.apply({ kind: "DeathCertificate", serviceId: holder, generation: 1 });
    scene.say(heir, [started(next)]);
    scene.say(holder, [inventory([run])], { generation: 2 });
    expect(observer).toMatchObject({ status: "Processing", currentRunId: next.runId });
    expect(scene.stopOf(run.runId)).toMatchObject({ serviceId: holder, generation: 2, reason: "superseded" });
  });

  it("takes up a run that the books do not know", () => {
    const scene = new Scene();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(newServiceId(), [inventory([run])]);
    expect(observer).toMatchObject({ status: "Processing", currentRunId: run.runId });
  });

  it.each([0, 1])(
    "gives its observer the run that it has, where an older one was told later and has gone (redelivered: %i)",
    (deliveryCount) => {
      const scene = new Scene();
      const [older, newer] = newServices();
      const observer = scene.observer();
      const first = runOf(observer, { deliveryCount: 0 });
      const second = runOf(observer, { messageId: first.messageId, deliveryCount });
      scene.say(newer, [started(second)]);
      // It could not send for a while: what it tells is of before the other began.
      scene.say(older, [inventory([first]), released(first, "draining")]);
      scene.say(newer, [inventory([second])]);
      expect(observer).toMatchObject({ status: "Processing", currentRunId: second.runId });
    },
  );
});

describe("a run of an observer that the books do not have", () => {
  it("is stopped until its end is reported", () => {
    const scene = new Scene();
    const service = newServiceId();
    const run = runOf(new Scene().observer());
    scene.say(service, [started(run)]);
    expect(scene.stopOf(run.runId)).toMatchObject({ reason: "unknown" });
    scene.say(service, [stopped(run, "unknown")]);
    expect(scene.wanted).toEqual([]);
  });
});
