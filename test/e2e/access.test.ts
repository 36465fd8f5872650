import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXIT_CODES } from "../../cli/src/failure.ts";
import { eventually } from "../support/eventually.ts";
import { startProcess } from "../support/processes/processes.ts";
import { type CliAnswer, runCli } from "../support/processes/unacked-cli.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { bearer, roleTokens } from "../support/rest/tokens.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const tokens = roleTokens();
const { viewer, operator, admin } = tokens.of;
const cwd = temporaryFolder("access");
const tokensFile = join(cwd, "tokens.txt");

let system: System;

beforeAll(async () => {
  writeFileSync(tokensFile, tokens.list);
  system = await freshSystem({ env: { AUTH_TOKENS_FILE: tokensFile, AUTH_FAILURES_PER_MINUTE: "100000" }, token: operator });
  await system.startManager({ env: { HOST: "0.0.0.0" } });
  system.url = system.url.replace("0.0.0.0", "127.0.0.1");
  await system.startService("alpha");
});
afterAll(() => system.close());

async function unacked(line: string, token: string, code: number = EXIT_CODES.ok, input?: string): Promise<CliAnswer> {
  const env = { UNACKED_URL: system.url, UNACKED_TOKEN: token, NO_COLOR: "1", XDG_CONFIG_HOME: join(cwd, "config") };
  const answer = await runCli(line.split(" "), { env, cwd, input });
  expect(answer, line).toMatchObject({ code });
  return answer;
}

describe("a manager that would be open to strangers", () => {
  const start = (env: Record<string, string>) =>
    startProcess({
      file: "services/observer-manager/bundle/main.js",
      env: { ...system.env, AUTH_TOKENS_FILE: "", HOST: "0.0.0.0", ...env },
    });

  it("does not start, and says what to do", async () => {
    const manager = start({});
    expect(await manager.exited).toEqual({ code: 2, signal: null });
    expect(manager.lines.join("\n")).toMatch(/cannot start: HOST: 0\.0\.0\.0 can be reached by others/);
    const wrong = start({ AUTH_TOKENS: "ci operator a-plain-token" });
    expect(await wrong.exited).toEqual({ code: 2, signal: null });
    expect(wrong.lines.join("\n")).toContain("AUTH_TOKENS: line 1: must be: name role sha256:");
    expect(wrong.lines.join("\n")).not.toContain("a-plain-token");
  });

  it("starts when it is told that strangers are kept out, and says in its log that it asks nobody", async () => {
    const manager = start({ ALLOW_ANONYMOUS: "true" });
    expect(await manager.waitForEvent("anonymous")).toMatchObject({ level: "warn" });
    await manager.waitForEvent("listening");
    await manager.kill("SIGTERM");
  });
});

describe("unacked", () => {
  it("does with a token what its role allows, and tells who that is", async () => {
    expect((await unacked("whoami", viewer)).out).toMatch(/a-viewer\s+viewer\s+token/);
    await unacked("create stamp made --param file=/dev/null --wait --timeout 20s", operator);
    expect((await unacked("get observers -o name", viewer)).out).toBe("made\n");
    await unacked("stop made --wait --timeout 20s", admin);
  });

  it.runIf(isTurnOf(1))("tells those without a token how to give one", async () => {
    for (const line of ["get observers", "create ticker x", "watch", "top --once", "get observers a b"]) {
      const { out, err } = await unacked(line, "", EXIT_CODES.notAllowed);
      expect({ line, out }).toEqual({ line, out: "" });
      expect(err).toMatch(/^error: .*The caller is not authenticated\. Give a token: --token, UNACKED_TOKEN, .*set-context/);
      expect(err.trim().split("\n")).toHaveLength(1);
    }
    expect((await unacked("get observers", "wrong", EXIT_CODES.notAllowed)).err).toContain("The token is not known");
  });

  it("tells a role that does not reach what would be needed", async () => {
    const { err } = await unacked("stop made", viewer, EXIT_CODES.notAllowed);
    expect(err).toContain("It needs the role operator, and a-viewer is viewer");
    expect((await unacked("delete errors 1", operator, EXIT_CODES.notAllowed)).err).toContain("needs the role admin");
  });

  it("keeps a context's token, read from standard input", async () => {
    await unacked(`config set-context here --url ${system.url} --token -`, "", EXIT_CODES.ok, `${viewer}\n`);
    expect((await unacked("--context here whoami", "")).out).toContain("a-viewer");
  });
});

it.runIf(isTurnOf(0))(
  "a token that is put into the file is known within seconds, and one that is taken out no more; a mistake changes nothing",
  async () => {
    const made = await unacked(`token create newcomer --role viewer --append ${tokensFile}`, "");
    const newcomer = made.out.trim();
    const statusOf = async (token: string) =>
      (await callHttp(`${system.url}/api/v1/session`, "GET", { headers: bearer(token) })).status;
    expect(await statusOf(newcomer)).toBe(401);
    await eventually(async () => expect(await statusOf(newcomer)).toBe(200), { timeoutMs: 15_000 });

    writeFileSync(tokensFile, `${tokens.list}\nnonsense`);
    await system.managers[0]?.waitForEvent("tokens-refused");
    expect([await statusOf(newcomer), await statusOf(viewer)]).toEqual([200, 200]);

    writeFileSync(tokensFile, tokens.list);
    await eventually(async () => expect(await statusOf(newcomer)).toBe(401), { timeoutMs: 15_000 });
    expect(await statusOf(viewer)).toBe(200);
  },
);
