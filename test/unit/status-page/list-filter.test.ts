import { describe, expect, it } from "vitest";
import {
  matcherOf,
  NO_FILTER,
  narrows,
  readFilter,
  writeFilter,
} from "../../../services/status-page/src/store/list-filter.ts";
import { rowWith } from "../../support/browser/observer-rows.ts";

describe("the filter in the address", () => {
  it.each([
    "",
    "?status=Failed&q=btc",
    "?status=Processing,Retrying&type=ticker&label=team=prices&sort=attempts",
    "?label=a=b&label=c=d",
    "?silent=true&sort=-silent",
    "?sort=-newest",
  ])("is read and written back as it was: %s", (search) => expect(writeFilter(readFilter(search))).toBe(search));

  it("takes what the manager takes: a status repeated, and overlooks what means nothing", () => {
    const filter = readFilter("?status=Failed&status=Created,Nonsense&sort=upwards&other=1");
    expect(filter).toEqual({ ...NO_FILTER, statuses: ["Created", "Failed"] });
  });

  it("shows the living when no status is asked for", () => {
    const matches = matcherOf(NO_FILTER);
    expect(matches(rowWith({ status: "Completed" }))).toBe(true);
    expect(matches(rowWith({ status: "Deleted" }))).toBe(false);
    expect([narrows(NO_FILTER), narrows({ ...NO_FILTER, sort: "attempts" }), narrows({ ...NO_FILTER, q: "x" })]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each([
    [{ q: "BTC" }, { name: "x-btc-usd" }, true],
    [{ q: "id-of-it" }, { id: "id-of-it" }, true],
    [{ service: "alpha" }, {}, true],
    [{ service: "s1" }, {}, true],
    [{ service: "beta" }, {}, false],
    [{ labels: ["team=prices"] }, { labels: { team: "prices" } }, true],
    [{ labels: ["team:prices"] }, { labels: { team: "prices" } }, true],
    [{ labels: ["team=a:b"] }, { labels: { team: "a:b" } }, true],
    [{ labels: ["team=prices", "tier=b"] }, { labels: { team: "prices" } }, false],
    [{ labels: ["team=prices", "tier=b"] }, { labels: { team: "prices", tier: "b" } }, true],
    [{ labels: ["team=other"] }, { labels: { team: "prices" } }, false],
    [{ labels: ["team"] }, { labels: { team: "prices" } }, false],
    [{ labels: ["constructor=x"] }, {}, false],
    [{ errorGroup: "Error: no" }, { errorGroup: "Error: no" }, true],
    [{ type: "ticker", pool: "gpu" }, {}, false],
  ])("%o lets %o through: %s", (filter, row, expected) => {
    expect(matcherOf({ ...NO_FILTER, ...filter })(rowWith(row))).toBe(expected);
  });
});
