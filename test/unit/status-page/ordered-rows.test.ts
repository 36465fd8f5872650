import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ListFilter, NO_FILTER, SORTS, type Sort } from "../../../services/status-page/src/store/list-filter.ts";
import { ObserverIndex, type RowChange } from "../../../services/status-page/src/store/observer-index.ts";
import type { ObserverRow } from "../../../services/status-page/src/store/observer-row.ts";
import { OrderedRows } from "../../../services/status-page/src/store/ordered-rows.ts";
import { rowWith } from "../../support/browser/observer-rows.ts";

const step = fc.record({
  id: fc.integer({ min: 0, max: 15 }).map(String),
  status: fc.constantFrom("Created", "Processing", "Retrying", "Failed", "Deleted" as const),
  attempts: fc.integer({ min: 0, max: 3 }),
  name: fc.constantFrom("a", "b", "c"),
  serviceName: fc.constantFrom("alpha", "beta", null),
  silentSince: fc.constantFrom(null, "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"),
  restartsLately: fc.integer({ min: 0, max: 2 }),
  list: fc.boolean(),
});
const sorted = (Object.keys(SORTS) as Sort[]).flatMap((sort) =>
  [false, true].map((isReversed) => ({ ...NO_FILTER, sort, isReversed })),
);
const filters = fc.constantFrom<ListFilter>(...sorted, { ...NO_FILTER, statuses: ["Retrying", "Failed"], sort: "attempts" });

describe("rows in order", () => {
  it("are after any changes what a fresh look at all rows gives", () => {
    fc.assert(
      fc.property(filters, fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 12 }), (filter, flushes) => {
        const index = new ObserverIndex();
        const ordered = new OrderedRows(filter, []);
        for (const flush of flushes) {
          const changes: RowChange[] = flush.flatMap(({ list, ...change }) => {
            const row = rowWith({ ...change, createdAt: `2026-01-${10 + Number(change.id)}` });
            return list ? index.takePage([row]) : index.takeEvents([row]);
          });
          ordered.apply(changes);
          expect(ordered.ids()).toEqual(new OrderedRows(filter, index.rows()).ids());
          for (const [place, id] of ordered.ids().entries())
            expect(ordered.indexOf(index.get(id) as ObserverRow)).toBe(place);
        }
      }),
    );
  });

  it.each([
    ["name", ["a", "b", "c"]],
    ["silent", ["b", "a", "c"]],
    ["restarts", ["c", "a", "b"]],
    ["status", ["b", "a", "c"]],
    ["service", ["a", "b", "c"]],
  ] as const)("by %s come as they should, and the other way round", (sort, wanted) => {
    const rows = [
      rowWith({ name: "c", status: "Completed", restartsLately: 9, serviceName: null }),
      rowWith({ name: "a", silentSince: "2026-01-02T00:00:00.000Z", restartsLately: 2, serviceName: "alpha" }),
      rowWith({ name: "b", status: "Failed", silentSince: "2026-01-01T00:00:00.000Z", serviceName: "beta" }),
    ];
    const names = (isReversed: boolean) => {
      const ordered = new OrderedRows({ ...NO_FILTER, sort, isReversed }, rows);
      return ordered.ids().map((id) => rows.find((row) => row.id === id)?.name);
    };
    expect(names(false)).toEqual(wanted);
    expect(names(true)).toEqual(wanted.toReversed());
  });

  it("tell whether any moved: a change of what they are not sorted by moves none", () => {
    const row = rowWith();
    const ordered = new OrderedRows(NO_FILTER, [row]);
    expect(ordered.apply([{ before: row, after: { ...row, attempts: 7 } }])).toBe(false);
    expect(ordered.apply([{ before: row, after: undefined }])).toBe(true);
    expect([ordered.length, ordered.has(row.id), ordered.indexOf(row)]).toEqual([0, false, -1]);
  });
});
