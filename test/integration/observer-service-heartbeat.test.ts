import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { rabbitmqctl } from "../support/broker/rabbitmqctl.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { type PrivateBroker, privateBroker } from "../support/servers/servers.ts";
import { holderAndHeir } from "../support/system/holder-and-heir.ts";
import { standIn, startObserverService } from "../support/system/observer-service.ts";

const AGREED_S = 2;
const ASKED_S = 12;
const OBSERVERS = 5;
/** The broker gives up on a silent client after 2 to 3 of the heartbeats that it agreed to. */
const TAKEN_OVER_MS = 10 * AGREED_S * 1_000;

let broker: PrivateBroker;
beforeAll(async () => {
  broker = await privateBroker({ config: { heartbeat: AGREED_S } });
});

const partition = (params: object = {}) => holderAndHeir({ broker, heartbeatS: ASKED_S, observers: OBSERVERS, params });

describe(`a broker that agrees to a heartbeat of ${AGREED_S} s where ${ASKED_S} s are asked for`, () => {
  test.runIf(isTurnOf(1))("finds the old copies stopped before it gives them away", async () => {
    const { manager, wire, takenOver, longestOverlapMs, holder } = await partition();
    wire.blackhole();
    await takenOver(TAKEN_OVER_MS);
    expect(await holder.waitForEvent("lease-lost")).toMatchObject({ why: "deadline-passed" });
    expect(longestOverlapMs()).toBe(0);
    expect(await manager.waitFor("ServiceBorn")).toMatchObject({ heartbeatMs: AGREED_S * 1_000 });
  });

  test.runIf(isTurnOf(0))("finds those ended that do not stop", async () => {
    const { wire, takenOver, longestOverlapMs, holder } = await partition({ stopDelayMs: 60_000 });
    wire.blackhole();
    await takenOver(TAKEN_OVER_MS);
    expect(longestOverlapMs()).toBe(0);
    expect(holder.exit()).toBeNull();
  });
});

test.runIf(isTurnOf(2))("a broker that is set to watch nothing watches what is asked for", async () => {
  await rabbitmqctl(broker.dir, "eval", "application:set_env(rabbit, heartbeat, 0).");
  onTestFinished(async () => {
    await rabbitmqctl(broker.dir, "eval", `application:set_env(rabbit, heartbeat, ${AGREED_S}).`);
  });
  const manager = await standIn(broker);
  const service = startObserverService(manager.amqpUrl, { env: { HEARTBEAT_S: String(ASKED_S) } });
  onTestFinished(async () => {
    await service.kill();
    await manager.close();
  });
  expect(await manager.waitFor("ServiceBorn")).toMatchObject({ heartbeatMs: ASKED_S * 1_000 });
  const watched = await rabbitmqctl(broker.dir, "-q", "list_connections", "-p", manager.vhost, "timeout");
  expect(watched.split("\n").filter((line) => line === String(ASKED_S))).toHaveLength(2);
});
