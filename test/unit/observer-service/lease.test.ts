import { describe, expect, test } from "vitest";
import {
  deadlineMs,
  exitAtMs,
  grantLease,
  isHeld,
  loseLease,
  proofIntervalMs,
  renewLease,
} from "../../../services/observer-service/src/keeper/lease/lease.ts";

const HEARTBEAT_MS = 10_000;
const lease = grantLease(1, HEARTBEAT_MS, 1_000);

describe("the lease", () => {
  test("is held for one and a half heartbeats after the last answered proof was sent", () => {
    expect(deadlineMs(lease)).toBe(16_000);
    expect(isHeld(lease, 15_999)).toBe(true);
    expect(isHeld(lease, 16_000)).toBe(false);
    expect(isHeld(renewLease(lease, 5_000), 16_000)).toBe(true);
  });
  test("is not shortened by an answer to an older proof", () => {
    expect(deadlineMs(renewLease(renewLease(lease, 5_000), 2_000))).toBe(20_000);
  });
  test("never comes back once it is lost", () => {
    expect(isHeld(renewLease(loseLease(lease, "session-lost", 2_000), 3_000), 3_001)).toBe(false);
    expect(loseLease(loseLease(lease, "session-lost", 2_000), "deadline-passed", 9_000).lost).toEqual({
      atMs: 2_000,
      why: "session-lost",
    });
  });
  test("proves life at least every half heartbeat", () => {
    expect(proofIntervalMs(lease)).toBeLessThanOrEqual(HEARTBEAT_MS / 2);
  });
});

describe("the end of the process", () => {
  test("comes before the broker's two heartbeats are over, when a deadline was missed", () => {
    expect(exitAtMs(loseLease(lease, "deadline-passed", 16_001))).toBe(20_000);
    expect(exitAtMs(loseLease(lease, "deadline-passed", 16_001))).toBeLessThan(lease.provenAtMs + 2 * HEARTBEAT_MS);
  });
  test("leaves a short moment to a process that slept through it", () => {
    expect(exitAtMs(loseLease(lease, "deadline-passed", 60_000))).toBe(61_000);
  });
  test("comes 0.4 heartbeats after a session was lost, and not at all while the lease is held", () => {
    expect(exitAtMs(loseLease(lease, "session-lost", 3_000))).toBe(7_000);
    expect(exitAtMs(lease)).toBe(Number.POSITIVE_INFINITY);
  });
});
