import { describe, expect, it } from "vitest";
import { NO_FILTER } from "../../../services/status-page/src/store/list-filter.ts";
import { groupsOf } from "../../../services/status-page/src/store/observer-groups.ts";
import { MOST_DELETED, ObserverIndex } from "../../../services/status-page/src/store/observer-index.ts";
import { OrderedRows } from "../../../services/status-page/src/store/ordered-rows.ts";
import { rowWith } from "../../support/browser/observer-rows.ts";

describe("the page's index of observers", () => {
  it("counts by status and by service as rows come, change and go", () => {
    const index = new ObserverIndex();
    const row = rowWith();
    index.takeEvents([row, rowWith({ status: "Created", serviceId: null })]);
    expect([index.countOf("Processing"), index.countOf("Created"), index.runningOn("s1")]).toEqual([1, 1, 1]);
    index.takeEvents([{ ...row, status: "Redistributing", serviceId: null }]);
    expect([index.countOf("Processing"), index.countOf("Redistributing"), index.runningOn("s1")]).toEqual([0, 1, 0]);
    index.takeEvents([{ ...row, status: "Deleted", serviceId: null }]);
    expect([index.size, index.countOf("Redistributing"), index.countOf("Deleted")]).toEqual([1, 0, 0]);
  });

  it("tells what each change was, and nothing of a deleted one that it never had", () => {
    const index = new ObserverIndex();
    const before = rowWith();
    const after = { ...before, attempts: 2 };
    expect(index.takeEvents([before])).toEqual([{ before: undefined, after: before }]);
    expect(index.takeEvents([after])).toEqual([{ before, after }]);
    expect(index.takeEvents([{ ...after, status: "Deleted" }])).toEqual([{ before: after, after: undefined }]);
    expect(index.takeEvents([rowWith({ status: "Deleted" })])).toEqual([]);
  });

  it("keeps what an event said while the list was being read, whichever came first", () => {
    const index = new ObserverIndex();
    const old = rowWith();
    const news = { ...old, status: "Failed" as const };
    index.beginLoad();
    index.takeEvents([news]);
    index.takePage([old]);
    expect(index.get(old.id)).toBe(news);
    expect(index.endLoad()).toEqual([]);
    index.takePage([old]); // of a later list: no load runs, so nothing is known to be newer
    expect(index.get(old.id)).toBe(old);
  });

  it("drops, at the end of a list, what neither the list nor an event named meanwhile", () => {
    const index = new ObserverIndex();
    const [gone, listed, told] = [rowWith(), rowWith(), rowWith()];
    index.takeEvents([gone, listed, told]);
    index.beginLoad();
    index.takePage([listed]);
    index.takeEvents([told]);
    expect(index.endLoad()).toEqual([{ before: gone, after: undefined }]);
    expect([...index.rows()]).toEqual([listed, told]);
  });

  it("counts restarts no more once they are of ten minutes ago, in the groups and in the order too", () => {
    const index = new ObserverIndex();
    const at = (ms: number) => ({ modifiedAt: new Date(ms).toISOString(), readAtMs: ms });
    const [old, late, none] = [
      rowWith({ restartsLately: 9, ...at(0) }),
      rowWith({ restartsLately: 1, ...at(60_000) }),
      rowWith(),
    ];
    index.takeEvents([old, late, none]);
    const ordered = new OrderedRows({ ...NO_FILTER, sort: "restarts" }, index.rows());
    expect(ordered.ids()).toEqual([old.id, late.id, none.id]);
    expect(index.forgetRestarts(599_999)).toEqual([]);
    const changes = index.forgetRestarts(600_000);
    expect(changes).toEqual([{ before: old, after: { ...old, restartsLately: 0 } }]);
    ordered.apply(changes);
    expect(ordered.ids()).toEqual([late.id, none.id, old.id]);
    expect(groupsOf(index.rows(), "type").map(({ restarts }) => restarts)).toEqual([1]);
    expect(index.forgetRestarts(600_000)).toEqual([]);
  });

  it("keeps deleted ones once somebody wants to see them, over a new list too", () => {
    const index = new ObserverIndex();
    const row = rowWith();
    index.keepDeleted();
    index.takeEvents([{ ...row, status: "Deleted" }]);
    index.beginLoad();
    index.endLoad();
    expect(index.countOf("Deleted")).toBe(1);
  });

  it("keeps so many deleted ones, those that were deleted last, however long the page is open", () => {
    const index = new ObserverIndex();
    index.keepDeleted();
    const rows = Array.from({ length: MOST_DELETED }, () => rowWith({ status: "Deleted" }));
    index.beginDeleted();
    index.takeDeleted(rows.toReversed());
    const [late, oldest] = [rowWith({ status: "Deleted", createdAt: "2020-01-01T00:00:00.000Z" }), rows[0]];
    expect(index.takeEvents([late])).toEqual([
      { before: undefined, after: late },
      { before: oldest, after: undefined },
    ]);
    expect([index.countOf("Deleted"), index.get(late.id)]).toEqual([MOST_DELETED, late]);
  });

  it("drops, when the deleted ones are read again, those that neither their list nor an event named meanwhile", () => {
    const index = new ObserverIndex();
    index.keepDeleted();
    const isDeleted = { status: "Deleted" } as const;
    const [living, forgotten, listed, told] = [rowWith(), rowWith(isDeleted), rowWith(isDeleted), rowWith(isDeleted)];
    index.takeEvents([living, forgotten, listed]);
    index.beginDeleted();
    index.takeEvents([told]);
    expect(index.takeDeleted([listed])).toEqual([
      { before: forgotten, after: undefined },
      { before: listed, after: listed },
    ]);
    expect([...index.rows()]).toEqual([living, listed, told]);
  });
});
