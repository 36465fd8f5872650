import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { everythingPermitted, ObserverStopped, runObserver } from "@unacked/sdk";
import { createRunContext } from "@unacked/sdk/host";
import { expect, test } from "vitest";
import observer from "../../observers/process.ts";
import { processIdentity } from "../../scripts/processes/identity.mjs";
import { eventually } from "../support/eventually.ts";
import { ROOT, startProcess } from "../support/processes/processes.ts";

/** A guardian, a shell or another language starts meanwhile, on a machine that does much else. */
const PATIENT = { timeoutMs: 60_000 };

type Printed = { line: string; truncated?: true };

const shell = (script: string, more: object = {}) => ({ command: "sh", args: ["-c", script], ...more });
const lines = (run: { events: readonly unknown[] }) => run.events.map((event) => (event as Printed).line);

/** A shell with a child in its group; says both pids, and ignores SIGTERM if it is told to. */
const group = (trap: "heeds" | "ignores") =>
  `${trap === "ignores" ? "trap '' TERM;" : ""} sleep 1000 & echo "$$ $!"; while :; do wait; sleep 0.05; done`;

const isPids = ({ line }: Printed) => /^\d+ \d+$/.test(line);
const pidsIn = ({ line }: Printed) => line.split(" ").map(Number);

async function expectGone(pids: readonly number[]): Promise<void> {
  await eventually(() => expect(pids.filter((pid) => processIdentity(pid) !== null)).toEqual([]), {
    what: "everybody in the command's group is gone",
  });
}

function childrenOf(parentPid: number, matching: RegExp): number[] {
  return execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null && Number(match[2]) === parentPid && matching.test(match[3] ?? ""))
    .map((match) => Number(match?.[1]));
}

test("what the command prints is emitted line by line, stderr is logged, and exit code 0 completes it", async () => {
  const run = runObserver(observer, {
    params: shell('printf "one\\ntwo\\n$WORD $UNACKED_OBSERVER_NAME"; echo careful >&2', { env: { WORD: "three" } }),
    observer: { name: "mine" },
  });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(lines(run)).toEqual(["one", "two", "three mine"]);
  expect(run.logs).toEqual([{ level: "warn", message: "careful", fields: { from: "stderr" } }]);
});

test("the service's own variables do not reach the command", async () => {
  process.env.AMQP_URL_OF_TEST = "amqp://secret";
  const run = runObserver(observer, { params: { command: "env" } });
  await run.finished;
  delete process.env.AMQP_URL_OF_TEST;
  expect(lines(run).join("\n")).not.toContain("secret");
  expect(lines(run).join("\n")).toContain("PATH=");
});

test("much output arrives whole and in order, a line without end is cut", async () => {
  const run = runObserver(observer, { params: shell("seq 1 50000; head -c 100000 /dev/zero | tr '\\0' x; echo; echo end") });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(lines(run).slice(0, 50_000)).toEqual(Array.from({ length: 50_000 }, (_, index) => String(index + 1)));
  expect(run.events[50_000]).toEqual({ line: "x".repeat(16_384), truncated: true });
  expect(run.events[50_001]).toEqual({ line: "end" });
});

/** A run whose lines are confirmed as `publish` says. */
function runOn(publish: (json: string) => Promise<void>, params: object) {
  const definition = observer.under(everythingPermitted);
  if (!("run" in definition) || definition.checkpoint === undefined) throw new Error("the type is not offered");
  const run = createRunContext({
    params: definition.params.parse(params),
    observer: { id: "1", name: "1", type: definition.type, labels: {} },
    runId: "1",
    fencingToken: 1,
    saves: { schema: definition.checkpoint, everyMs: 0, checkpoint: undefined, save: () => Promise.resolve() },
    stopTimeoutMs: 25_000,
    writeLog: () => {},
    publish,
  });
  return { stop: () => run.stop(new ObserverStopped("stopped")), finished: definition.run(run.context) };
}

test.each(["exit 0", "exit 3"])("a command that has ended (%s) is over when its last line is confirmed", async (end) => {
  let confirmed = false;
  const slowly = async () => {
    await sleep(1_000);
    confirmed = true;
  };
  await runOn(slowly, shell(`echo last; ${end}`)).finished.catch(() => {});
  expect(confirmed).toBe(true);
});

test("a stop does not wait for what the broker does not confirm", async () => {
  const unconfirmed = () => new Promise<void>(() => setImmediate(() => run.stop()));
  const run = runOn(unconfirmed, shell("echo last"));
  await run.finished;
});

test("another exit code fails the run with the last lines of stderr", async () => {
  const run = runObserver(observer, { params: shell("printf 'no\\0such\\ntable\\n' >&2; exit 3") });
  expect(await run.finished).toMatchObject({
    outcome: "failed",
    error: {
      code: "process-exited",
      message: "the command exited with code 3; the last of its stderr: no\u{FFFD}such\ntable",
    },
  });
});

test("a signal from elsewhere fails the run, and names the signal", async () => {
  const run = runObserver(observer, { params: shell("kill -9 $$") });
  expect(await run.finished).toMatchObject({
    outcome: "failed",
    error: { code: "process-killed", message: expect.stringContaining("SIGKILL") },
  });
});

test.each([
  ["a command that is not there", { command: "no-such-command-here" }],
  ["a working directory that is not there", { command: "true", cwd: "/no/such/folder" }],
  [
    "arguments that are too long for the system",
    { command: "true", args: Array.from({ length: 60 }, () => "x".repeat(65_536)) },
  ],
])("%s fails the run in words", async (_, params) => {
  expect(await runObserver(observer, { params }).finished).toMatchObject({
    outcome: "failed",
    error: { code: "process-not-started" },
  });
});

test("a NUL character in an argument is refused by the params' schema", async () => {
  expect(await runObserver(observer, { params: { command: "echo", args: ["a\0b"] } }).finished).toMatchObject({
    outcome: "failed",
    error: { code: "invalid-params", message: "/args/0: must not hold a NUL character" },
  });
});

test("a command is given its arguments and variables whole, whatever ends a line elsewhere", async () => {
  const text = "a\u2028b\u2029c\u0085d\re";
  const run = runObserver(observer, {
    params: { command: "sh", args: ["-c", 'echo "$1$WORD"', "sh", text], env: { WORD: text } },
  });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(lines(run)).toEqual([text + text]);
});

test("a stop ends the whole group with SIGTERM, well before the SIGKILL is due", async () => {
  const run = runObserver(observer, { params: shell(group("heeds"), { stopTimeoutMs: 25_000 }) });
  const pids = pidsIn(await run.waitForEvent(isPids, PATIENT));
  expect(await run.stop()).toEqual({ outcome: "stopped" });
  expect(pids.map(processIdentity)).toEqual([null, null]);
});

test("a command may use its SIGTERM to say goodbye", async () => {
  const run = runObserver(observer, {
    params: shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done"),
  });
  await run.waitForEvent(undefined, PATIENT);
  expect(await run.stop()).toEqual({ outcome: "stopped" });
  expect(lines(run)).toEqual(["ready", "bye"]);
});

test("a group that ignores SIGTERM gets SIGKILL after stopTimeoutMs, and the run ends only then", async () => {
  const run = runObserver(observer, { params: shell(group("ignores"), { stopTimeoutMs: 300 }) });
  const pids = pidsIn(await run.waitForEvent(isPids, PATIENT));
  const stoppedAtMs = performance.now();
  expect(await run.stop()).toEqual({ outcome: "stopped" });
  expect(performance.now() - stoppedAtMs).toBeGreaterThanOrEqual(290);
  expect(pids.map(processIdentity)).toEqual([null, null]);
});

test("a lost lease kills at once, whatever the group would like to do first", async () => {
  const run = runObserver(observer, { params: shell(group("ignores"), { stopTimeoutMs: 25_000 }) });
  const pids = pidsIn(await run.waitForEvent(isPids, PATIENT));
  expect(await run.stop("lease-lost")).toEqual({ outcome: "stopped" });
  expect(pids.map(processIdentity)).toEqual([null, null]);
});

test("children that the command leaves behind end with it", async () => {
  const run = runObserver(observer, { params: shell('sleep 1000 & echo "$$ $!"') });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(pidsIn(run.events[0] as Printed).map(processIdentity)).toEqual([null, null]);
});

test("when the guardian is killed the run fails, and the group dies", async () => {
  const run = runObserver(observer, { params: shell(group("ignores")) });
  const pids = pidsIn(await run.waitForEvent(isPids, PATIENT));
  // That of the test before may be about to end.
  const guardians = await eventually(() => {
    const found = childrenOf(process.pid, /guardian\.mjs/);
    expect(found).toHaveLength(1);
    return found;
  });
  for (const guardian of guardians) process.kill(guardian, "SIGKILL");
  expect(await run.finished).toMatchObject({ outcome: "failed", error: { code: "guardian-lost" } });
  await expectGone(pids);
});

const hosts: [string, string, Record<string, string>][] = [
  ["built", "observers/dist/process.js", {}],
  ["loaded as TypeScript", "observers/process.ts", { NODE_OPTIONS: "--import tsx" }],
];

function startHost(file: string, env: Record<string, string>, params: object) {
  const args = [`${ROOT}/${file}`, JSON.stringify(params)];
  return startProcess({ name: "host", file: "test/fixtures/harness-host.mjs", args, env });
}

const hostPids = async (host: ReturnType<typeof startHost>) => {
  const line = await host.waitForLine((each) => /"line":"\d+ \d+"/.test(each), { what: "the pids" });
  return pidsIn(JSON.parse(line) as Printed);
};

test.each(hosts)("kill -9 of the service kills the group, SIGTERM ignored or not (%s)", async (_, file, env) => {
  const host = startHost(file, env, shell(group("ignores")));
  const pids = await hostPids(host);
  const guardians = childrenOf(host.pid, /guardian\.mjs/);
  expect(guardians).toHaveLength(1);
  await host.kill("SIGKILL");
  await expectGone([...pids, ...guardians]);
});

test("a kill of the service's whole process group does not spare the command either", async () => {
  const host = startHost("observers/dist/process.js", {}, shell(group("ignores")));
  const pids = await hostPids(host);
  process.kill(-host.pid, "SIGKILL");
  await host.exited;
  await expectGone(pids);
});

test("a frozen service loses its command after silenceTimeoutMs, and notices when it thaws", async () => {
  const host = startHost("observers/dist/process.js", {}, shell(group("ignores"), { silenceTimeoutMs: 4_000 }));
  const pids = await hostPids(host);
  await host.kill("SIGSTOP");
  await expectGone(pids);
  await host.kill("SIGCONT");
  expect(await host.waitForEvent("finished")).toMatchObject({
    outcome: "failed",
    message: expect.stringContaining("guardian"),
  });
  await host.exited;
});

test("a service that is alive and well keeps its command beyond silenceTimeoutMs", async () => {
  const run = runObserver(observer, { params: shell("echo up; sleep 8; echo still", { silenceTimeoutMs: 6_000 }) });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(lines(run)).toEqual(["up", "still"]);
});

test("a command that talks over the network loses its connection with the service", async () => {
  const server = createServer((_, response) => response.write("."));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const connected = once(server, "connection");
  const script = `fetch("http://127.0.0.1:${(server.address() as AddressInfo).port}"); console.log(process.pid + " " + process.pid)`;
  const host = startHost("observers/dist/process.js", {}, { command: process.execPath, args: ["-e", script] });
  const [socket] = await connected;
  await hostPids(host);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await host.kill("SIGKILL");
  await closed;
  server.close();
});

/** Replaces the file as the guide says. */
const SAVE =
  'save() { printf %s "$1" >"$UNACKED_CHECKPOINT_FILE.new" && mv "$UNACKED_CHECKPOINT_FILE.new" "$UNACKED_CHECKPOINT_FILE"; };';

test("a command is given its fencing token, and a file with what was saved last; what it writes there is saved, and nothing is left of it", async () => {
  const run = runObserver(observer, {
    params: shell(
      `${SAVE} echo "$UNACKED_FENCING_TOKEN $UNACKED_CHECKPOINT_FILE"; cat "$UNACKED_CHECKPOINT_FILE"; echo; save "is 8"`,
    ),
    fencingToken: 7_000,
    checkpoint: { text: "was 7" },
  });
  expect(await run.finished).toEqual({ outcome: "completed" });
  const [[fencingToken, file] = [], text] = [lines(run)[0]?.split(" "), lines(run)[1]];
  expect([fencingToken, text]).toEqual(["7000", "was 7"]);
  expect(run.checkpoints).toEqual([{ text: "is 8" }]);
  expect(existsSync(dirname(String(file)))).toBe(false);
});

test("at first there is no such file; one that fails keeps what it has written", async () => {
  const run = runObserver(observer, {
    params: shell(`${SAVE} test -e "$UNACKED_CHECKPOINT_FILE" && exit 4; save first; exit 3`),
  });
  expect(await run.finished).toMatchObject({ outcome: "failed", error: { code: "process-exited" } });
  expect(run.checkpoints).toEqual([{ text: "first" }]);
});

test("what it saves goes behind the lines that it has printed before, however much it prints", async () => {
  const run = runObserver(observer, {
    params: {
      command: process.execPath,
      args: [
        "-e",
        `const { writeFileSync, writeSync, renameSync } = require("node:fs");
         const file = process.env.UNACKED_CHECKPOINT_FILE;
         for (let n = 1; ; n += 1) {
           let line = Buffer.from(n + " " + "x".repeat(2000) + "\\n");
           while (line.length > 0) {
             try { line = line.subarray(writeSync(1, line)); } catch (error) { if (error.code !== "EAGAIN") throw error; }
           }
           if (n % 50 === 0) { writeFileSync(file + ".new", String(n)); renameSync(file + ".new", file); }
         }`,
      ],
    },
  });
  for (let saves = 1; saves <= 5; saves += 1) {
    await eventually(() => expect(run.checkpoints.length).toBeGreaterThanOrEqual(saves), { timeoutMs: 20_000 });
    const { text } = run.checkpoints.at(-1) as { text: string };
    expect(run.events.length).toBeGreaterThanOrEqual(Number(text));
  }
  await run.stop();
});

test("the file goes with a service that is killed", async () => {
  const host = startHost("observers/dist/process.js", {}, shell('echo "file $UNACKED_CHECKPOINT_FILE"; sleep 1000'));
  const line = await host.waitForLine((each) => each.includes('"line":"file '), { what: "the file's name" });
  const file = /"line":"file ([^"]+)"/.exec(line)?.[1] ?? "";
  expect(existsSync(dirname(file))).toBe(true);
  await host.kill("SIGKILL");
  await eventually(() => expect(existsSync(dirname(file))).toBe(false));
});
