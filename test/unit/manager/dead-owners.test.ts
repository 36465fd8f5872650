import { describe, expect, it } from "vitest";
import { DeadOwners } from "../../../services/observer-manager/src/domain/timers/dead-owners.ts";

const lapsed = (...owners: string[]) => owners.map((owner) => ({ owner, leaseUntil: "09:00" }));

describe("an owner of timers whose lease has run out", () => {
  it("is dead once it was seen so for three seconds, and not before", () => {
    const dead = new DeadOwners();
    expect([0, 1_000, 2_999].map((nowMs) => dead.look(lapsed("a"), nowMs))).toEqual([[], [], []]);
    expect(dead.look(lapsed("a", "b"), 3_000)).toEqual(["a"]);
    expect(dead.look(lapsed("b"), 6_000)).toEqual(["b"]);
  });

  it("is not while it renews now and then, or was not seen at one look", () => {
    const dead = new DeadOwners();
    for (let nowMs = 0; nowMs < 20_000; nowMs += 2_000)
      expect(dead.look([{ owner: "a", leaseUntil: String(nowMs) }], nowMs)).toEqual([]);
    dead.look(lapsed("b"), 0);
    dead.look([], 1_000);
    expect(dead.look(lapsed("b"), 3_000)).toEqual([]);
  });

  it("is looked at anew after a look that failed: after an outage of the database every lease has lapsed", () => {
    const dead = new DeadOwners();
    dead.look(lapsed("a"), 0);
    dead.lookFailed();
    expect(dead.look(lapsed("a"), 60_000)).toEqual([]);
    expect(dead.look(lapsed("a"), 63_000)).toEqual(["a"]);
  });
});
