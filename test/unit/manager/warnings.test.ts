import type { PoolStats } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { type Facts, warningsOf } from "../../../services/observer-manager/src/domain/warnings.ts";

const pool: PoolStats = {
  pool: "default",
  services: 2,
  draining: 0,
  workers: 20,
  occupied: 5,
  desired: 15,
  free: 15,
  survivesLargestService: true,
};
const service = { name: "service-1", state: "Alive", brokerLoss: null, lastSeenAt: "2026-01-01T00:00:00.000Z" } as const;
const well: Facts = { pools: [pool], services: [service], stateQueueLag: 0 };
const codes = (facts: Facts) => warningsOf(facts).map((one) => one.code);

describe("warnings", () => {
  it("are none where all is well", () => {
    expect(warningsOf(well)).toEqual([]);
  });

  it("name a broker that cuts jobs, with the remedy that the service was told", () => {
    const brokerLoss = { kind: "consumer-timeout", detail: "406 …", remedy: "Set consumer_timeout" };
    expect(warningsOf({ ...well, services: [{ ...service, brokerLoss }] })).toMatchObject([
      { code: "broker-cuts-jobs", subject: "service-1", remedy: "Set consumer_timeout" },
    ]);
  });

  it("name what stands in the way, and nothing else", () => {
    expect(codes({ ...well, stateQueueLag: null })).toEqual(["broker-away"]);
    expect(codes({ ...well, stateQueueLag: 5_000 })).toEqual(["state-queue-behind"]);
    expect(codes({ ...well, pools: [{ ...pool, occupied: 21, free: 0 }] })).toEqual(["no-free-worker"]);
    expect(codes({ ...well, pools: [{ ...pool, services: 0, workers: 0, free: 0 }] })).toEqual(["no-service"]);
    expect(codes({ ...well, pools: [{ ...pool, survivesLargestService: false }] })).toEqual(["would-not-survive"]);
    const drained = { ...pool, draining: 2, workers: 0, free: 0, survivesLargestService: false };
    expect(codes({ ...well, pools: [drained] })).toEqual(["all-draining"]);
    expect(codes({ ...well, pools: [{ ...pool, draining: 1 }] })).toEqual([]);
    expect(codes({ ...well, services: [{ ...service, state: "Suspect" }] })).toEqual(["service-suspect"]);
    expect(codes({ ...well, services: [service, service] })).toEqual(["same-service-name"]);
  });
});
