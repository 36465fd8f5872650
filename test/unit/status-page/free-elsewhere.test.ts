import type { ServiceView } from "@unacked/contracts";
import { expect, it } from "vitest";
import { freeElsewhere } from "../../../services/status-page/src/store/free-elsewhere.ts";

const service = (id: string, more: Partial<ServiceView> = {}) =>
  ({
    id,
    pool: "default",
    state: "Alive",
    draining: false,
    cordoned: false,
    notConsuming: null,
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
