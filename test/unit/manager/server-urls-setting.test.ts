import { loadSettings } from "@unacked/settings";
import { expect, it } from "vitest";
import { ManagerSettings } from "../../../services/observer-manager/src/settings.ts";

it("A wrong address of broker or database is named beside whatever else is wrong", () => {
  const env = { AMQP_URL: "http://broker", DATABASE_URL: "foo://db", PORT: "many" };
  expect(() => loadSettings(ManagerSettings, { env })).toThrow(
    /^AMQP_URL: must look .*; DATABASE_URL: must look .*; PORT: must be /,
  );
});
