import { loadSettings, SettingsError } from "@unacked/settings";
import { expect, test } from "vitest";
import { permissionsOf } from "../../../services/observer-service/src/settings/permissions.ts";
import { ServiceSettings } from "../../../services/observer-service/src/settings/settings.ts";

function settled(env: Record<string, string>) {
  try {
    return permissionsOf(loadSettings(ServiceSettings, { env: { AMQP_URL: "amqp://localhost", ...env } }));
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

test("nothing is permitted unless it is set", () => {
  expect(settled({})).toEqual({ commands: [], variables: [], privateAddresses: false });
  expect(settled({ PROCESS_COMMANDS: "sh" })).toEqual({ commands: [], variables: [], privateAddresses: false });
});

test("commands are permitted by name, by path, or all", () => {
  const env = { ALLOW_PROCESS_OBSERVERS: "true" };
  expect(settled({ ...env, PROCESS_COMMANDS: "node, /usr/bin/env" })).toMatchObject({ commands: ["node", "/usr/bin/env"] });
  expect(settled({ ...env, PROCESS_COMMANDS: "*" })).toMatchObject({ commands: "any" });
  expect(settled({ ALLOW_PRIVATE_ADDRESSES: "true" })).toEqual({ commands: [], variables: [], privateAddresses: true });
});

test("variables are permitted by name; with any command any, unless they are named", () => {
  const env = { ALLOW_PROCESS_OBSERVERS: "true", PROCESS_COMMANDS: "make" };
  expect(settled(env)).toMatchObject({ variables: [] });
  expect(settled({ ...env, PROCESS_ENV: "TARGET, CI" })).toMatchObject({ variables: ["TARGET", "CI"] });
  expect(settled({ ...env, PROCESS_COMMANDS: "*" })).toMatchObject({ commands: "any", variables: "any" });
  expect(settled({ ...env, PROCESS_COMMANDS: "*", PROCESS_ENV: "CI" })).toMatchObject({ variables: ["CI"] });
  for (const wrong of ["*", "A B", "1ST", "CI,,TARGET", ".*"])
    expect(settled({ ...env, PROCESS_ENV: wrong })).toEqual([expect.stringMatching(/^PROCESS_ENV: /)]);
});

test.each([
  ["the list is missing", undefined, /is required with ALLOW_PROCESS_OBSERVERS=true/],
  ["a path is relative", "bin/tool", /absolute paths/],
  ["an entry is empty", "sh,,node", /empty entry/],
  ["all and some are named", "*,sh", /or \* alone/],
])("%s: the setting is named, with what would be right", (_, commands, problem) => {
  const env = { ALLOW_PROCESS_OBSERVERS: "true", ...(commands && { PROCESS_COMMANDS: commands }) };
  expect(settled(env)).toEqual([expect.stringMatching(problem)]);
  expect(settled(env)).toEqual([expect.stringMatching(/^PROCESS_COMMANDS: /)]);
});
