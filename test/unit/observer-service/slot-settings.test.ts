import { expect, test } from "vitest";
import { slotSettingsOf } from "../../../services/observer-service/src/keeper/slots/supply/slot-settings.ts";
import { ServiceSettings } from "../../../services/observer-service/src/settings/settings.ts";

test("a slot's environment has no setting of its service but its name, and how long a handler may take to settle", () => {
  const env = { AMQP_URL: "amqp://user:secret@host/", AMQP_URL_FILE: "/secret", SERVICE_NAME: "mine", OWN: "kept" };
  const slots = slotSettingsOf(ServiceSettings.parse({ AMQP_URL: env.AMQP_URL, SLOTS: "2" }), {
    program: "slot.js",
    service: { serviceId: "1", serviceName: "mine", pool: "default", version: "1" },
    capacity: { cores: 2, memoryBytes: 2 ** 30 },
    env,
  });
  expect(slots?.env).toEqual({ SERVICE_NAME: "mine", OWN: "kept", UNACKED_SLOT: "1", STOP_TIMEOUT_MS: "25000" });
});
