import { type ObserverDefinition, offeredUnder, type Permissions, paramsJsonSchema, parseParams } from "@unacked/sdk";
import { describe, expect, test } from "vitest";
import process from "../../../observers/process.ts";
import { checkParams } from "../../../services/observer-manager/src/domain/params-check.ts";

const under = (commands: Permissions["commands"]) =>
  offeredUnder(process, { commands, privateAddresses: false }) as ObserverDefinition;
const some = under(["node", "/usr/bin/true"]);

/** What the service says, and what the manager says already at POST. */
function judged(definition: ObserverDefinition, params: unknown) {
  const parsed = parseParams(definition, params);
  const service = parsed.ok ? [] : parsed.issues.map(({ pointer }) => `/params${pointer}`);
  const manager = checkParams(paramsJsonSchema(definition).schema, params).map(({ pointer }) => pointer);
  return { service, manager };
}

test("where no command is permitted there is no such type, and it says what would be needed", () => {
  expect(under([])).toEqual({ notOffered: expect.stringContaining("ALLOW_PROCESS_OBSERVERS") });
});

test("a command that is not on the list is refused by the manager at POST and by the service, with the list", () => {
  expect(judged(some, { command: "node" })).toEqual({ service: [], manager: [] });
  for (const command of ["sh", "/usr/bin/../bin/true", "./node", "node ", ""])
    expect(judged(some, { command })).toEqual({ service: ["/params/command"], manager: ["/params/command"] });
  const parsed = parseParams(some, { command: "sh" });
  expect(!parsed.ok && parsed.issues[0]?.message).toContain("node, /usr/bin/true (PROCESS_COMMANDS)");
});

describe("with a list of commands", () => {
  test.each(["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "BASH_ENV"])(
    "the variable %s is refused: it makes a command run another",
    (name) => {
      const { service, manager } = judged(some, { command: "node", env: { [name]: "x" } });
      expect(service).toEqual([`/params/env/${name}`]);
      expect(manager.length).toBeGreaterThan(0);
    },
  );
  test.each(["TZ", "LDAP_URL", "PATHS", "GITHUB_TOKEN", "ENVIRONMENT", "api_key"])("the variable %s is not", (name) => {
    expect(judged(some, { command: "node", env: { [name]: "x" } })).toEqual({ service: [], manager: [] });
  });
});

test("where any command is permitted, so are all variables", () => {
  expect(judged(under("any"), { command: "./x", env: { PATH: "/opt", LD_PRELOAD: "y" } })).toEqual({
    service: [],
    manager: [],
  });
});
