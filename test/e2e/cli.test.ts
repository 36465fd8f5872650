import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { EXIT_CODES } from "../../cli/src/failure.ts";
import { processIo } from "../../cli/src/io.ts";
import { buildProgram } from "../../cli/src/program.ts";
import { examplesOf } from "../support/docs/doc-examples.ts";
import { eventually } from "../support/eventually.ts";
import { type RunningProcess, startProcess } from "../support/processes/processes.ts";
import { CLI_FILE, type CliAnswer, runCli, runShell } from "../support/processes/unacked-cli.ts";
import { contractProxy } from "../support/rest/contract-proxy.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { untilItMayChange } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { observerView } from "../unit/cli/views.ts";

const WRONG_CLOCK = pathToFileURL("test/fixtures/wrong-clock.mjs").href;

let system: System;
let cwd: string;
let env: Record<string, string>;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  const permitted = { ALLOW_PROCESS_OBSERVERS: "true", PROCESS_COMMANDS: "sh" };
  const observers = { env: { OBSERVERS_DIR: "observers", ...permitted } };
  const names = ["observer-service-1", "observer-service-2"];
  await Promise.all(names.map((name) => system.startService(name, observers)));
  // Idle, so that the guide can drain it while others are at work.
  await system.startService("observer-service-3", { env: { ...observers.env, POOL: "spare" } });
  await untilItMayChange(system);
  cwd = temporaryFolder("cli");
  env = {
    UNACKED_URL: await contractProxy(system.url),
    UNACKED_TOKEN: "",
    NO_COLOR: "",
    XDG_CONFIG_HOME: join(cwd, "config"),
  };
});
afterAll(() => system.close());

/** One command line, words by spaces; its exit code must be `code`. */
async function unacked(
  line: string,
  options: { code?: number; input?: string; env?: Record<string, string> } = {},
): Promise<CliAnswer> {
  const answer = await runCli(line.split(" "), { env: { ...env, ...options.env }, cwd, input: options.input });
  expect(answer, line).toMatchObject({ code: options.code ?? EXIT_CODES.ok });
  expect(answer.out + answer.err).not.toMatch(
    /a bug in this program|\u001b|^\s+at .*\/cli\/(?:bin|bundle|dev|dist|src)\/.*:\d+/m,
  );
  return answer;
}

/** Other tests start managers, and changes wait for some seconds until each is known to know them. */
const changing = (...command: Parameters<typeof unacked>): Promise<CliAnswer> =>
  eventually(() => unacked(...command), { timeoutMs: 30_000, what: `unacked ${command[0]}` });

const onceAllKnow = (run: () => Promise<CliAnswer>): Promise<CliAnswer> =>
  eventually(
    async () => {
      const answer = await run();
      expect(answer.err).not.toContain("It is not known yet that all managers");
      return answer;
    },
    { timeoutMs: 60_000, what: "that all managers know what is asked" },
  );

const startUnacked = (line: string, url: string): RunningProcess =>
  startProcess({ file: CLI_FILE, args: line.split(" "), env: { ...env, UNACKED_URL: url }, cwd, name: `unacked ${line}` });

async function startSecondManager(port = 0): Promise<{ process: RunningProcess; url: string }> {
  const process = await system.startManager({ port, speakTo: false });
  const { url } = await process.waitForEvent("listening");
  return { process, url: String(url) };
}

// Side by side: most of the time each only waits for a process.
describe.concurrent("the guide, docs/cli.md", () => {
  const examples = examplesOf("docs/cli.md");
  /** Headings whose examples need none of another turn. */
  const IN_TURNS = [
    ["Create", "Apply", "Stop, restart, pause", "Wait, watch, top"],
    ["Tasks", "Flows", "Timers", "Schedules"],
    ["Which manager", "Checkpoints", "Errors", "Logs", "Drain", "Cordon, move, rebalance", "Load new code"],
  ];
  const isItsTurn = (heading: string) => IN_TURNS.every((headings, i) => isTurnOf(i) || !headings.includes(heading));

  it("has examples that work, in their order, and print what it shows", { timeout: 600_000 }, async () => {
    expect(examples.length).toBeGreaterThan(15);
    for (const { heading, script, printed } of examples.filter((one) => isItsTurn(one.heading))) {
      const answer = await onceAllKnow(() => runShell(script, { env, cwd }));
      expect(answer, `${heading}: ${script}`).toMatchObject({ code: 0 });
      expect(answer.out + answer.err).not.toContain("a bug in this program");
      // Standard output and standard error are two pipes here: in which order they were written is not known.
      if (printed !== undefined) expect(linesOf(answer.out + answer.err)).toEqual(linesOf(printed));
    }
  });

  it("has an example of every command", () => {
    const scripts = examples.map(({ script }) => script).join("\n");
    // `dev` has a system of its own, and a test: e2e/dev.
    const shown = commandLines(buildProgram(processIo())).filter(([command]) => command !== "dev");
    for (const words of shown) expect(scripts).toContain(`unacked ${words.join(" ")}`);
  });

  const linesOf = (text: string) => text.trim().split("\n").toSorted();
});

describe.concurrent("unacked", () => {
  it.runIf(isTurnOf(2))("tells of every command how it is used", async () => {
    const lines = commandLines(buildProgram(processIo())).concat([["config"]]);
    expect(lines.length).toBeGreaterThan(14);
    const [whole, ...helps] = await Promise.all([
      unacked("--help"),
      ...lines.map((words) => unacked(`${words.join(" ")} --help`)),
    ]);
    for (const [index, { out, err }] of helps.entries()) {
      expect(out).toMatch(new RegExp(`^Usage: unacked ${lines[index]?.join(" ")} `));
      expect(err).toBe("");
    }
    for (const [command] of lines) expect(whole?.out).toMatch(new RegExp(`^ {2}${command} `, "m"));
    expect((await unacked("help stop")).out).toBe((await unacked("stop --help")).out);
  });

  it.runIf(isTurnOf(1))("creates from standard input, shows it in each format, and applies what it showed", async () => {
    const documents = ["in-1", "in-2", "in-3"].map((name) => ({ name, type: "ticker", labels: { app: "in" } }));
    const created = await unacked("create -f - --set params.everyMs=500 --wait --timeout 20s", {
      input: JSON.stringify(documents),
    });
    expect(created.out).toMatch(
      /^(?:observer in-\d created\n){3}(?:observer in-\d is Processing on observer-service-\d\n){3}$/,
    );
    const [json, yaml, names, wide] = await Promise.all(
      ["json", "yaml", "name", "wide"].map((format) => unacked(`get obs -l app=in -o ${format}`)),
    );
    expect(JSON.parse(json?.out ?? "")).toEqual(parse(yaml?.out ?? ""));
    expect(names?.out.split("\n").toSorted()).toEqual(["", "in-1", "in-2", "in-3"]);
    expect(wide?.out).toMatch(/^NAME .* LABELS .*\n(?:in-\d +ticker +Processing .* app=in .*\n){3}$/);
    expect(JSON.parse((await unacked("get observer in-2 -o json")).out)).toEqual(await system.get("in-2"));

    const again = await unacked("apply -f -", { input: yaml?.out ?? "" });
    expect(again.out).toMatch(/^(?:observer in-\d unchanged \(Processing\)\n){3}$/);
    const otherwise = { input: yaml?.out ?? "" };
    const planned = await unacked("apply -f - --set params.everyMs=700 --dry-run", {
      ...otherwise,
      code: EXIT_CODES.differs,
    });
    expect(planned.out).toContain("observer in-1 would be changed\n  params.everyMs: 500 -> 700\n");
    expect(planned.err).toMatch(/^error: 3 would be created, changed or stopped/);
    const before = await system.get("in-1");
    expect((await changing("apply -f - --set params.everyMs=700", otherwise)).out).toContain(
      "observer in-1 changed\n  params.everyMs: 500 -> 700\n",
    );
    await eventually(async () =>
      expect(await system.get("in-1")).toMatchObject({
        id: before.id,
        params: { everyMs: 700 },
        status: "Processing",
        specVersion: 2,
        observedSpecVersion: 2,
      }),
    );
    expect((await changing("change in-1 -p everyMs=500 --label tier=a")).out).toBe(
      'observer in-1 changed (Processing)\n  params.everyMs: 700 -> 500\n  labels.tier: nothing -> "a"\n',
    );
    expect((await changing("change in-1 --label tier= --dry-run", { code: EXIT_CODES.differs })).out).toBe(
      'observer in-1 would be changed (Processing)\n  labels.tier: "a" -> nothing\n',
    );
    expect((await changing("change in-1 -p everyMs=often", { code: EXIT_CODES.failed })).err).toContain("/params/everyMs");
    expect((await changing("change in-1 --label tier=")).out).toContain("observer in-1 changed (");
    const again500 = await changing("apply -f -", otherwise);
    expect(again500.out).toMatch(/observer in-2 changed\n {2}params\.everyMs: 700 -> 500\n/);
    await eventually(async () =>
      expect((await changing("apply -f -", otherwise)).out).toMatch(/^(?:observer in-\d unchanged \(Processing\)\n){3}$/),
    );
    const many = Array.from({ length: 250 }, (_, index) => ({
      ...documents[0],
      name: `in-${index + 1}`,
      params: { everyMs: 500 },
    }));
    const dryApplied = await unacked("apply -f - --dry-run", { input: JSON.stringify(many), code: EXIT_CODES.differs });
    expect(dryApplied.out.match(/ unchanged \(Processing\)$/gm)).toHaveLength(3);
    expect(dryApplied.out.match(/ would be created$/gm)).toHaveLength(247);
    expect((await unacked("restart -l app=in --dry-run")).out).toBe("3 of 3 observers would be restarted\n");
    const dry = JSON.parse((await unacked("stop -l app=in --dry-run -o json")).out) as { items: { name: string }[] };
    expect(dry.items.map(({ name }) => name).toSorted()).toEqual(["in-1", "in-2", "in-3"]);
    const stopped = await unacked("stop -l app=in --wait --timeout 20s");
    expect(stopped.out).toMatch(/^(?:observer in-\d is being stopped\n){3}(?:observer in-\d is Deleted\n){3}$/);
    expect((await unacked("get obs -l app=in")).out).toBe("");
  });

  it.runIf(isTurnOf(0))("follows changes live, over a manager that goes and comes back, until Ctrl-C", async () => {
    // One of its own: the others speak to the first.
    const manager = await startSecondManager();
    const watching = startUnacked("watch seen-1 seen-2", manager.url);
    await watching.waitForLine((line) => line.startsWith("Watching "));
    await unacked("create ticker seen-1");
    await watching.waitForLine((line) => /seen-1 +Processing +observer-service-\d/.test(line));
    await unacked("restart seen-1");
    await watching.waitForLine((line) => /seen-1 +Processing +observer-service-\d +restarted: run 2$/.test(line));
    await manager.process.kill("SIGKILL");
    await watching.waitForLine((line) => line.startsWith("The connection was lost"));
    const away = await unacked(`--url ${manager.url} get obs`, { code: EXIT_CODES.unreachable });
    expect(away).toMatchObject({
      out: "",
      err: expect.stringMatching(/^error: Cannot reach the manager at http.*ECONNREFUSED.*\n$/),
    });
    await startSecondManager(Number(new URL(manager.url).port));
    await unacked("create ticker seen-2");
    await unacked("stop seen-1 seen-2 --force --wait --timeout 20s");
    await watching.waitForLine((line) => /seen-2 +Deleted/.test(line));
    expect(await watching.kill("SIGINT")).toEqual({ code: 0, signal: null });
    expect(watching.lines.filter((line) => !/^TIME|seen-|^Watching|^The connection/.test(line))).toEqual([]);
  });

  it("says of the runs of several whose each is", async () => {
    await unacked("create ticker whose-1 --wait");
    await unacked("create ticker whose-2 --wait");
    const { out } = await unacked("get runs whose-1 whose-2");
    expect(out.split("\n").map((line) => line.split(/ +/, 2).join(" "))).toEqual([
      "OBSERVER RUN",
      "whose-1 1",
      "whose-2 1",
      "",
    ]);
    expect((await unacked("get runs whose-1")).out).toMatch(/^ *RUN /);
    expect((await unacked("ls --filter q=whose- -o name")).out).toBe("whose-2\nwhose-1\n");
    expect((await unacked("list svc -o name")).out).toContain("observer-service-1\n");
    await unacked("stop whose-1 whose-2 --wait --timeout 20s");
  });

  it("cuts a wide table at the width of a terminal, and nowhere else", async () => {
    const wide = "unacked get svc -o wide";
    const { out } = await runShell(`script -qec "stty cols 60; ${wide}" /dev/null`, { env: { ...env, NO_COLOR: "1" }, cwd });
    const lines = out.trimEnd().split(/\r?\n/);
    expect(lines[0]).toMatch(/^NAME .*…$/);
    expect(lines.map((line) => Array.from(line).length)).toEqual(lines.map(() => 60));
    expect((await runShell(wide, { env, cwd })).out.split("\n")[0]).toMatch(/ ID$/);
  });

  it("sets a timer for so long from now on a machine whose clock is wrong", async () => {
    const clock = { NODE_OPTIONS: `--import ${WRONG_CLOCK}`, CLOCK_OFFSET_MS: "7200000" };
    const { out } = await unacked("timer clock.test --in 1h", { env: clock });
    const [, at = ""] = /^timer \S+ is Waiting until (\S+)\n$/.exec(out) ?? [];
    const inMs = Date.parse(at) - Date.now(); // this is the machine of the database, too
    expect(inMs).toBeGreaterThan(3_600_000 - 300_000);
    expect(inMs).toBeLessThanOrEqual(3_600_000);
  });

  it("tells each refusal in one line with its fields, and goes on with the others", async () => {
    const wrong = await unacked("create ticker wrong --param everyMs=soon", { code: EXIT_CODES.failed });
    expect(wrong).toMatchObject({
      out: "",
      err: expect.stringMatching(/^error: observer wrong: The body is wrong\.\n {2}\/params\/everyMs: .*\n$/),
    });
    const unknown = await unacked("create tikker wrong", { code: EXIT_CODES.failed });
    expect(unknown.err).toMatch(/known types: .*ticker/);
    const some = await unacked("stop nobody nothing", { code: EXIT_CODES.failed });
    expect(some.err).toMatch(/^(?:error: observer \w+: No such observer\..*\n){2}error: 2 of 2 were refused\.\n$/);
    const invalid = await unacked("create -f -", { input: "name: a b\ntype: ticker\n", code: EXIT_CODES.usage });
    expect(invalid.err).toMatch(/^error: A document is wrong\. Nothing was sent\.\n {2}standard input: name: only .*\n$/);
  });

  it("tells what was mistyped, and where to read more", async () => {
    expect(await unacked("get obs --frob", { code: EXIT_CODES.usage })).toMatchObject({
      out: "",
      err: "error: unknown option '--frob'\n(unacked get --help tells more)\n",
    });
  });

  it("sees that it does not speak to a manager", async ({ onTestFinished }) => {
    const other = createServer(
      (_request, response) => void response.setHeader("content-type", "text/html").end("<p>Welcome"),
    );
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const url = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { err } = await unacked(`--url ${url} top`, { code: EXIT_CODES.unexpectedAnswer });
    expect(err).toContain(`http://${url}/api/v1/`);
    expect(err).toContain("with text/html, as no manager of Unacked does");
  });

  it("does all that it is to change, also where nobody reads what it says any more", async ({ onTestFinished }) => {
    const BATCHES = 3;
    let came = 0;
    const manager = createServer((request, response) => {
      let text = "";
      const answer = (): void => {
        const { observers } = JSON.parse(text) as { observers: { name: string }[] };
        const results = observers.map(({ name }) => ({ status: 201, observer: observerView({ name }) }));
        response.setHeader("content-type", "application/json").end(JSON.stringify({ results }));
      };
      request.on("data", (piece) => (text += String(piece)));
      request.on("end", () => setTimeout(answer, 200)); // head has closed by the second answer
      came += 1;
    });
    await new Promise<void>((resolve) => manager.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void manager.close());
    const url = `http://127.0.0.1:${(manager.address() as AddressInfo).port}`;
    const names = Array.from({ length: BATCHES * 500 }, (_, at) => ({ name: `many-${at}`, type: "ticker" }));
    writeFileSync(join(cwd, "many.json"), JSON.stringify(names));
    const { out, code } = await runShell(`unacked --url ${url} create -f many.json 2>&1 | head -n 1`, { env, cwd });
    expect([out, code, came]).toEqual(["observer many-0 created\n", 0, BATCHES]);
  });
});

describe("unacked, interrupted", () => {
  it("as it creates something says how to repeat it", async ({ onTestFinished }) => {
    const silent = createServer(() => undefined);
    const asked = once(silent, "request");
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const running = startUnacked("run resize", `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    await asked;
    expect(await running.kill("SIGINT")).toEqual({ code: EXIT_CODES.interrupted, signal: null });
    expect(running.lines.join("\n")).toMatch(
      /Interrupted before the manager answered\. Repeat it with --id [0-9a-f-]{36}\./,
    );
  });
});

describe("unacked, with nobody beside it", () => {
  it("waits, and says at once when it would be in vain", async () => {
    const failing = await unacked(
      "create process crash --param command=sh --param args=[no-such-script] --set retry.maxAttempts=1 -o name",
    );
    expect(failing.out).toBe("crash\n");
    const vain = await unacked("wait crash --for=completed --timeout 20s", { code: EXIT_CODES.failed });
    expect(vain.err).toMatch(
      /^error: observer crash is Failed \(.*\), and will not become Completed\. See: unacked describe crash\.\n$/,
    );
    expect((await unacked("describe crash")).out).toMatch(/Status: +Failed[\s\S]*Last error: [\s\S]*Ended .* failed/);
    await unacked("restart crash");
    await unacked("wait crash --for Failed --timeout 20s");
    expect((await unacked("get runs crash -o json")).out.match(/"endReason": "failed"/g)).toHaveLength(2);
    await unacked("stop crash --wait");
    await unacked("wait crash --for=delete");
    const late = await unacked("wait crash --for=Processing", { code: EXIT_CODES.failed });
    expect(late.err).toMatch(/^error: observer crash: No such observer\. Check the name/);
  });

  it("completes in a real bash, names with a colon too", async () => {
    await unacked("create ticker colon:one");
    const complete = (line: string) => `
      COMP_LINE="${line}" COMP_POINT=${line.length} COMPREPLY=()
      _unacked unacked; printf '%s\\n' "\${COMPREPLY[@]}"; echo --`;
    const params = ["unacked create ticker x --param ", "unacked create process x -p silenceT"];
    const lines = [
      "unacked sto",
      "unacked get se",
      "unacked stop colon",
      "unacked stop colon:",
      "unacked wait x --for Proc",
    ];
    const script = `eval "$(unacked completion bash)"; compopt() { :; }; ${[...lines, ...params].map(complete).join("\n")}`;
    // Nobody is kept waiting for a completion: where the manager is slow it offers nothing.
    await eventually(async () => {
      const { out } = await runShell(script, { env, cwd });
      expect(out.split("\n--\n")).toEqual([
        "stop",
        "services",
        "colon:one",
        "one",
        "Processing",
        "everyMs=",
        "silenceTimeoutMs=",
        "",
      ]);
    });
    await unacked("stop colon:one --force");
  });

  it("leaves the books as true as it found them", () => system.check());
});

/** Each command that does something, as its words: `config view`. */
function commandLines(command: ReturnType<typeof buildProgram>, path: string[] = []): string[][] {
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== "help");
  if (below.length === 0) return [path];
  return below.flatMap((each) => commandLines(each, [...path, each.name()]));
}
