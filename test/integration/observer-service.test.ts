import { describe, expect, test } from "vitest";
import { workQueueName } from "@unacked/contracts";
import { eventually } from "../support/eventually.ts";
import { standIn, startObserverService } from "../support/observer-service.ts";

const WORK = workQueueName("default");

describe("a run", () => {
  test("starts when its message arrives, which stays unacked, and is told", async () => {
    const manager = await standIn();
    const service = startObserverService(manager.amqpUrl);
    const born = await manager.waitFor("ServiceBorn");
    expect(born).toMatchObject({ pool: "default", workerCount: 10, pid: service.pid, heartbeatMs: 4_000 });
    const { observerId, messageId } = await manager.start();
    const started = await manager.waitFor("RunStarted");
    expect(started).toMatchObject({ observerId, messageId, revision: 1, attempt: 1 });
    await eventually(async () => expect(await manager.management.queue(WORK)).toMatchObject({ ready: 0, unacked: 1 }));

    await manager.control({ kind: "StopObservers", targets: [{ observerId, revision: 1 }] });
    expect(await manager.waitFor("RunStopped")).toMatchObject({ observerId, messageId, runId: started.runId, reason: "stopped" });
    await eventually(async () => expect(await manager.management.queue(WORK)).toMatchObject({ total: 0 }));
    expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  });
});
