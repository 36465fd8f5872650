import type { ProblemDetails } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LOG_STREAM_LIMITS } from "../../services/observer-manager/src/operations/logs/log-streams.ts";
import { shownConnection } from "../support/broker/connections.ts";
import { eventually } from "../support/eventually.ts";
import { type EventClient, followEvents } from "../support/rest/event-client.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

describe("logs that are followed", () => {
  const { ofOneCaller } = LOG_STREAM_LIMITS;
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("service-1");
    await system.createMany("talker", 1, { sayEveryMs: 100 });
  });
  afterEach(() => system.close());

  const follow = () => followEvents(`${system.url}/api/v1/observers/talker-0/logs?follow=true`);
  const entriesOf = ({ events }: EventClient) => events.filter(({ event }) => event === "entry").length;

  const followAsManyAsMay = () => Promise.all(Array.from({ length: ofOneCaller }, () => follow()));

  const allHaveHeard = async (followers: EventClient[], more: number) => {
    const before = followers.map(entriesOf);
    await eventually(() => {
      for (const [i, follower] of followers.entries())
        expect(entriesOf(follower)).toBeGreaterThanOrEqual((before[i] ?? 0) + more);
    });
  };

  it.runIf(isTurnOf(0))(
    "ask together: so many followers of one run are one question, by a publisher that carries nothing else",
    async () => {
      const followers = await followAsManyAsMay();
      await allHaveHeard(followers, 1);
      const [service] = await system.listServices();
      const beganMs = performance.now();
      await system.management.call("PUT", "/queues/{vhost}/tap", { durable: true });
      await system.management.call("POST", "/bindings/{vhost}/e/unacked.service/q/tap", {
        routing_key: `${service?.id}.${service?.generation}`,
      });
      await allHaveHeard(followers, 20);
      const asked = await eventually(async () => {
        const found = await system.management.get("tap", { count: 5_000, requeue: true });
        expect(found.length).toBeGreaterThan(0);
        return found;
      });
      const tookMs = performance.now() - beganMs; // they go on asking until it is read
      expect(asked.map(({ properties }) => properties["type"]).filter((type) => type !== "ReadLogs")).toEqual([]);
      // One in 200 ms at most; each alone would ask twice a second.
      expect(asked.length).toBeLessThanOrEqual(tookMs / 200 + 3);
      await shownConnection(system.management, "unacked-manager-logs");
    },
  );

  it.runIf(isTurnOf(2))("are no more than one caller may have; what is closed makes room", async () => {
    const followers = await followAsManyAsMay();
    const path = "/api/v1/observers/talker-0/logs?follow=true";
    const refused = await system.call<ProblemDetails>("GET", path);
    expect([refused.status, refused.body]).toMatchObject([
      429,
      { code: "too-many-log-streams", detail: expect.stringContaining(String(ofOneCaller)) },
    ]);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await system.call("GET", "/api/v1/observers/talker-0/logs")).status).toBe(200);
    followers.pop()?.close();
    const again = await eventually(async () => {
      const client = await follow();
      expect(client.response.status).toBe(200);
      return client;
    });
    await allHaveHeard([again], 1);
  });
});
