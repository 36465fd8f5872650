import type { WorkView } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { NO_FILTER } from "../../../services/status-page/src/store/list-filter.ts";
import { listOfWork, partsOfWork, sayFilter, wishFor, wishOf } from "../../../services/status-page/src/store/work-looks.ts";

const WORK = { filter: {}, all: false, total: 10, done: 5, failed: 2 } as WorkView;

describe("work on all that match", () => {
  it("asks for what the list shows, and leads back to it", () => {
    const list = {
      ...NO_FILTER,
      statuses: ["Failed" as const],
      type: "ticker",
      q: " many ",
      labels: ["team=web", "env:prod"],
      silent: "true",
    };
    const filter = { status: ["Failed"], type: "ticker", q: "many", silent: true, labels: { team: "web", env: "prod" } };
    expect(wishOf(list)).toEqual({ filter });
    const work = { ...WORK, filter } as WorkView;
    expect(listOfWork(work)).toEqual({ ...list, q: "many", labels: ["team=web", "env=prod"] });
    expect(sayFilter(work)).toBe("status Failed, type ticker, name with many, silent true, label team=web, label env=prod");
  });

  it("of a list without a filter means all, and of one with what is no label nothing", () => {
    expect(wishOf({ ...NO_FILTER, sort: "restarts" })).toEqual({ all: true });
    expect(listOfWork({ ...WORK, all: true })).toEqual(NO_FILTER);
    expect(wishOf({ ...NO_FILTER, labels: ["team"] })).toBeUndefined();
  });

  it("with force is on those alone that no other stop ends, whatever else the list shows", () => {
    const failed = { ...NO_FILTER, statuses: ["Failed" as const] };
    const some = { ...NO_FILTER, q: "btc", statuses: ["Processing" as const, "Created" as const] };
    expect(wishFor("force-stop", NO_FILTER)).toEqual({ filter: { status: ["Created", "OnDeleting"] } });
    expect(wishFor("force-stop", some)).toEqual({ filter: { q: "btc", status: ["Created"] } });
    expect(wishFor("force-stop", failed)).toBeUndefined();
    expect(wishFor("stop", failed)).toEqual(wishOf(failed));
  });

  it("has its parts of the whole", () => {
    expect(partsOfWork(WORK).map(({ part }) => part)).toEqual([0.5, 0.2]);
    expect(partsOfWork({ ...WORK, total: 0, done: 0, failed: 0 }).map(({ part }) => part)).toEqual([0, 0]);
  });
});
