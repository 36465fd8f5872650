import { loadSettings } from "@unacked/settings";
import { expect, it } from "vitest";
import { ManagerSettings } from "../../../services/observer-manager/src/settings.ts";

const load = (pools: string) =>
  loadSettings(ManagerSettings, {
    env: { AMQP_URL: "amqp://broker", DATABASE_URL: "postgres://db/x", TASK_CREATION_POOLS: pools },
  }).TASK_CREATION_POOLS;

it("TASK_CREATION_POOLS names pools, or * for all", () => {
  expect(load("reports, eu-west_1,7")).toEqual(["reports", "eu-west_1", "7"]);
  expect(load("*")).toEqual(["*"]);
});

it.each(["eu west", "reports.*", "a/b", "x".repeat(65), "reports,**"])("and no pool can be called %j", (pools) => {
  expect(() => load(pools)).toThrow(/TASK_CREATION_POOLS: "\S.*" is no pool/);
});
