import { describe, expect, it } from "vitest";
import { newsOfRuns, newsOfServices } from "../../../cli/src/output/change-columns.ts";
import { observerView, serviceView } from "./views.ts";

const on = (name: string) => ({ id: "0197d5c0-0000-7000-8000-0000000000aa", name });

describe("what watch says of an observer's runs", () => {
  it("is which one has begun: restarted where it was, or moved", () => {
    const begun = newsOfRuns();
    const said = [
      { runNumber: 1, status: "Created", service: null },
      { runNumber: 1, service: on("one") },
      { runNumber: 2, service: on("one") },
      { runNumber: 2, attempts: 2, service: on("one") },
      { runNumber: 2, status: "Redistributing", service: null },
      { runNumber: 3, service: on("two") },
    ].map((changes) => begun(observerView(changes as object)));
    expect(said).toEqual(["", "", "restarted: run 2", "", "", "moved from one: run 3"]);
  });

  it("is its number alone where nothing was known before, and nothing of a first run", () => {
    expect(newsOfRuns()(observerView({ runNumber: 4 }))).toBe("run 4");
    expect(newsOfRuns()(observerView({ runNumber: 1 }))).toBe("");
    const begun = newsOfRuns();
    expect([
      begun(observerView({ runNumber: 0, status: "Created", service: null })),
      begun(observerView({ runNumber: 1 })),
    ]).toEqual(["", ""]);
  });
});

describe("what watch says of a service", () => {
  it("is each state that it is shown in, and how many run there; not that it lives, once more", () => {
    const isTold = newsOfServices();
    const changes: object[] = [
      {},
      { memoryBytes: 7 },
      { cordoned: true },
      {},
      { notConsuming: "no memory" },
      { running: 9 },
    ];
    expect(changes.map((change) => isTold(serviceView(change)))).toEqual([true, false, true, true, true, true]);
  });
});
