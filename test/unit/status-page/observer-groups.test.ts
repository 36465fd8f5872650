import { describe, expect, it } from "vitest";
import { NO_FILTER, readFilter, writeFilter } from "../../../services/status-page/src/store/list-filter.ts";
import {
  filterOfGroup,
  groupOfLabel,
  groupsOf,
  labelKeysOf,
} from "../../../services/status-page/src/store/observer-groups.ts";
import { rowWith } from "../../support/browser/observer-rows.ts";

const rows = [
  rowWith({ type: "ticker", labels: { team: "a" }, restartsLately: 2 }),
  rowWith({ type: "ticker", labels: { team: "b" }, silentSince: "2026-01-01T00:00:00.000Z" }),
  rowWith({ type: "poll", labels: {}, status: "Failed", serviceName: null }),
];

describe("groups of observers", () => {
  it("are counted, the largest first, those that have none among them", () => {
    expect(groupsOf(rows, "type")).toEqual([
      { name: "ticker", total: 2, byTone: { good: 2, wait: 0, bad: 0, over: 0 }, silent: 1, restarts: 2 },
      { name: "poll", total: 1, byTone: { good: 0, wait: 0, bad: 1, over: 0 }, silent: 0, restarts: 0 },
    ]);
    expect(groupsOf(rows, "service").map(({ name, total }) => [name, total])).toEqual([
      ["alpha", 2],
      [null, 1],
    ]);
    expect(groupsOf(rows, groupOfLabel("team")).map(({ name }) => name)).toEqual([null, "a", "b"]);
    expect(labelKeysOf(rows)).toEqual(["team"]);
  });

  it("lead to their list, with all else that was asked for", () => {
    const filter = { ...NO_FILTER, q: "btc", group: "type" };
    expect(filterOfGroup(filter, "ticker")).toEqual({ ...NO_FILTER, q: "btc", type: "ticker" });
    const byTeam = { ...filter, group: groupOfLabel("team"), labels: ["tier=b"] };
    expect(filterOfGroup(byTeam, "a")).toEqual({ ...NO_FILTER, q: "btc", labels: ["tier=b", "team=a"] });
    expect(filterOfGroup(byTeam, null)).toBeUndefined();
    expect(readFilter(writeFilter(byTeam))).toEqual(byTeam);
  });
});
