import type { ObserverDefinition, Permissions } from "@unacked/sdk";
import { offeredUnder, paramsJsonSchema, parseParams } from "@unacked/sdk/host";
import { describe, expect, test } from "vitest";
import process from "../../../observers/process.ts";
import { checkParams } from "../../../services/observer-manager/src/domain/types/params-check.ts";

const under = (commands: Permissions["commands"], variables: Permissions["variables"] = []) =>
  offeredUnder(process, { commands, variables, privateAddresses: false }) as ObserverDefinition;
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

describe("environment variables", () => {
  const DANGEROUS = ["PATH", "HOME", "LD_PRELOAD", "NODE_OPTIONS", "GIT_SSH_COMMAND", "BASH_ENV", "SHELLOPTS", "PS4"];

  test.each([...DANGEROUS, "MAKEFLAGS", "LESSOPEN", "PAGER", "VISUAL", "PYTHONPATH", "TZ", "toString", "__proto__x"])(
    "%s is refused unless it is named: by the service and, at POST, by the manager, with the setting",
    (name) => {
      const params = { command: "node", env: { [name]: "x" } };
      const at = `/params/env/${name}`;
      expect(judged(some, params)).toEqual({ service: [at], manager: [at] });
      const named = under(["node"], ["WORD", "API_KEY"]);
      expect(judged(named, params)).toEqual({ service: [at], manager: [at] });
      const says = "in the key: this service lets params set only WORD, API_KEY (PROCESS_ENV)";
      const parsed = parseParams(named, params);
      expect(!parsed.ok && parsed.issues[0]?.message).toBe(says);
      expect(checkParams(paramsJsonSchema(named).schema, params)).toMatchObject([{ message: says }]);
      expect(judged(under(["node"], [name]), params)).toEqual({ service: [], manager: [] });
    },
  );

  test("those that are named may be set, and no others beside them", () => {
    const named = under(["node"], ["WORD", "API_KEY"]);
    expect(judged(named, { command: "node", env: { WORD: "x", API_KEY: "y" } })).toEqual({ service: [], manager: [] });
    for (const name of ["WORDS", "XWORD", "word", "WORD|API_KEY", "WORD\n"])
      expect(judged(named, { command: "node", env: { WORD: "x", [name]: "y" } }).service).toHaveLength(1);
  });

  test("any may be set where that is permitted", () => {
    const params = { command: "./x", env: { PATH: "/opt", LD_PRELOAD: "y" } };
    expect(judged(under("any", "any"), params)).toEqual({ service: [], manager: [] });
  });
});

test("params for a worker are refused by the service where the protocol gives them to nobody", () => {
  const params = { command: "node", workerParams: { n: 1 } };
  expect(judged(some, params).service).toEqual(["/params/workerParams"]);
  expect(judged(some, { ...params, protocol: "json-lines" })).toEqual({ service: [], manager: [] });
  expect(judged(some, { command: "node", protocol: "xml" })).toEqual({
    service: ["/params/protocol"],
    manager: ["/params/protocol"],
  });
});
