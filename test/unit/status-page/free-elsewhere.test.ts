import type { ServiceView } from "@unacked/contracts";
import { expect, it } from "vitest";
import { freeElsewhere, unservedElsewhere } from "../../../services/status-page/src/store/free-elsewhere.ts";

const service = (id: string, more: Partial<ServiceView> = {}) =>
  ({
    id,
    pool: "default",
    state: "Alive",
    draining: false,
    cordoned: false,
    notConsuming: null,
    types: ["ticker"],
    workerCount: 10,
    running: 4,
    ...more,
  }) as ServiceView;
const running = (each: ServiceView): number => each.running;

it("those that take over are alive, of its pool, and take work themselves", () => {
  const [leaving, other, full] = [service("leaving"), service("other"), service("full", { running: 11 })];
  const useless = [
    service("of another pool", { pool: "else" }),
    service("silent", { state: "Suspect" }),
    service("draining", { draining: true }),
    service("cordoned", { cordoned: true }),
    service("full of memory", { notConsuming: "the host has 900 of 1000 MiB in use" }),
  ];
  expect(freeElsewhere(leaving, [leaving, other, full, ...useless], running)).toBe(6);
  expect(freeElsewhere(leaving, [leaving], running)).toBe(0);
});

it("of what runs on it, that has no other place whose type none of these has", () => {
  const leaving = service("leaving", { types: ["ticker", "gpu"] });
  const running = new Map([
    ["ticker", 3],
    ["gpu", 2],
  ]);
  const other = service("other");
  expect(unservedElsewhere(leaving, [leaving, other], running)).toEqual([{ type: "gpu", count: 2 }]);
  const cordoned = service("cordoned", { types: ["gpu"], cordoned: true });
  expect(unservedElsewhere(leaving, [leaving, other, cordoned], running)).toEqual([{ type: "gpu", count: 2 }]);
  expect(unservedElsewhere(leaving, [leaving, other, { ...cordoned, cordoned: false }], running)).toEqual([]);
});
