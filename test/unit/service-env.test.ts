import { describeSettings } from "@unacked/settings";
import { expect, test } from "vitest";
import { withoutManagersSecrets } from "../../scripts/start/service-env.mjs";
import { ManagerSettings } from "../../services/observer-manager/src/settings.ts";
import { SETTING_NAMES } from "../../services/observer-service/src/settings/settings.ts";

/* `npm start` and `unacked dev` start managers and services from one environment. */

test("a service is not started with the secrets that are a manager's alone", () => {
  const names = describeSettings(ManagerSettings)
    .filter(({ name, secret }) => secret || name.endsWith("KEY_FILE"))
    .flatMap(({ name }) => name.split(" or "))
    .filter((name) => !SETTING_NAMES.includes(name) && !SETTING_NAMES.includes(name.replace(/_FILE$/, "")));
  expect(names).toEqual(expect.arrayContaining(["DATABASE_URL", "DATABASE_URL_FILE", "AUTH_TOKENS"]));
  expect(withoutManagersSecrets(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual({});
});

test("and with all that its observers and it may need", () => {
  const env = { PATH: "/bin", AMQP_URL: "amqp://nowhere", AMQP_TLS_KEY_FILE: "key.pem", SLOTS: "2", SHOP_TOKEN: "x" };
  expect(withoutManagersSecrets(env)).toEqual(env);
});
