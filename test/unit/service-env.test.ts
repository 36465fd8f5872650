import { describeSettings } from "@unacked/settings";
import { expect, test } from "vitest";
import { givenServer } from "../../scripts/servers/given-server.mjs";
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

test("a server that is named by nothing is not given, as for the programs", () => {
  const env = { AMQP_URL: "", DATABASE_URL: "postgres://nowhere" };
  expect(givenServer("AMQP_URL", env)).toBeUndefined();
  expect(givenServer("AMQP_URL", {})).toBeUndefined();
  expect(givenServer("DATABASE_URL", env)).toBe("postgres://nowhere");
});
