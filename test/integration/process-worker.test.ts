import { spawnSync } from "node:child_process";
import { runObserver } from "@unacked/sdk";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import observer from "../../observers/process.ts";
import { processIdentity } from "../../scripts/processes/identity.mjs";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";

/** A guardian, a shell or another language starts meanwhile, on a machine that does much else. */
const PATIENT = { timeoutMs: 60_000 };

/** A worker in JavaScript: `say`, `heard` (messages so far), `on` (each message), and what stands in `script`. */
const worker = (script: string, more: object = {}) => ({
  command: process.execPath,
  args: [
    "-e",
    `const { writeSync } = require("node:fs");
     const print = (text) => {
       let rest = Buffer.from(text);
       while (rest.length > 0) try { rest = rest.subarray(writeSync(1, rest)); } catch (error) { if (error.code !== "EAGAIN") throw error; }
     };
     const say = (message) => print(JSON.stringify(message) + "\\n");
     let on = () => {};
     require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => on(JSON.parse(line)));
     ${script}`,
  ],
  protocol: "json-lines",
  ...more,
});

const started = (script: string) => `on = (message) => { if (message.start) { ${script} } };`;

test("a worker is told its params, its checkpoint and who it is, and what it says is emitted, saved, logged and a beat", async () => {
  const run = runObserver(observer, {
    params: worker(
      `let given;
       on = (message) => {
         if (message.start) {
           say({ emit: message.start });
           say({ alive: true });
           say({ log: "a text" });
           say({ log: { level: "warn", message: "more", fields: { at: 7 } } });
           say({ checkpoint: { n: 8 } });
           say({ emit: null });
         }
         if (message.saved) { say({ emit: message }); process.exit(0); }
       };`,
      { workerParams: { pair: ["BTC", { deep: true }] } },
    ),
    observer: { name: "mine" },
    fencingToken: 7_000,
    checkpoint: { json: { n: 7 } },
  });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(run.events).toEqual([
    {
      params: { pair: ["BTC", { deep: true }] },
      observerId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      observerName: "mine",
      runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      fencingToken: 7_000,
      checkpoint: { n: 7 },
    },
    null,
    { saved: 1 },
  ]);
  expect(run.checkpoints).toEqual([{ json: { n: 8 } }]);
  expect(run.logs).toEqual([
    { level: "info", message: "a text", fields: undefined },
    { level: "warn", message: "more", fields: { at: 7 } },
  ]);
  expect(run.beats).toBe(4);
});

test("a first run has no checkpoint and no params, and what the other protocol has saved is none", async () => {
  for (const checkpoint of [undefined, { text: "of the file" }]) {
    const run = runObserver(observer, {
      params: worker(started("say({ emit: message.start }); process.exit(0);")),
      ...(checkpoint && { checkpoint }),
    });
    expect(await run.finished).toEqual({ outcome: "completed" });
    expect(run.events).toMatchObject([{ params: {}, checkpoint: null }]);
  }
});

test("what a worker is told is one line, also to those that end lines at more than a line end", async () => {
  const text = "a\u2028b\u2029c";
  const run = runObserver(observer, {
    params: {
      command: process.execPath,
      args: [
        "-e",
        `let told = "";
         process.stdin.setEncoding("utf8").on("data", (piece) => {
           told += piece;
           if (!told.includes("\\n")) return;
           console.log(JSON.stringify({ emit: [/[\\u2028\\u2029]/.test(told), JSON.parse(told).start.params] }));
           process.exit(0);
         });`,
      ],
      protocol: "json-lines",
      workerParams: { text },
    },
  });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(run.events).toEqual([[false, { text }]]);
});

test("a stray line is logged with its reason, and the rest goes on", async () => {
  const run = runObserver(observer, {
    params: worker(
      started(
        `print("progress: 7 %\\n\\n[1]\\n");
         say({ emitt: 1 }); say({ alive: "yes" }); say({ log: { text: 1 } }); say({ alive: true, log: "x" });
         say({ emit: "after" }); print('{"emit": "half'); process.exit(0);`,
      ),
    ),
  });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(run.events).toEqual(["after"]);
  const passedOver = "a line of its standard output is passed over: ";
  const known = "a message has one of emit, checkpoint, alive, log";
  expect(run.logs.map(({ message, fields }) => [message, fields?.["line"]])).toEqual([
    [`${passedOver}it is no JSON object`, "progress: 7 %"],
    [`${passedOver}it is no JSON object`, ""],
    [`${passedOver}it is no JSON object`, "[1]"],
    [`${passedOver}unknown key "emitt": ${known}`, '{"emitt":1}'],
    [`${passedOver}alive is not true`, '{"alive":"yes"}'],
    [`${passedOver}log is neither a text nor { level, message, fields }`, '{"log":{"text":1}}'],
    [`${passedOver}it has 2 keys, and ${known.slice(2)}`.replace("message", "a message"), '{"alive":true,"log":"x"}'],
    ["its last line has no end, and is passed over", '{"emit": "half'],
  ]);
});

test.each([
  ["no JSON", `print('{"emit": NaN}\\n');`, "line-unreadable", 'it is no JSON: .*\\{"emit": NaN\\}$'],
  ["several keys", "say({ emit: 1, checkpoint: 2 });", "line-unreadable", "it has 2 keys"],
  ["a line that is too long", 'say({ emit: "x".repeat(131_072) });', "line-unreadable", "more than 131072 characters"],
  ["a checkpoint that is too large", 'say({ checkpoint: "x".repeat(65_536) });', "checkpoint-lost", "65536 bytes"],
])("%s may be a lost event: the run fails, and nothing behind it is emitted or saved", async (_, script, code, words) => {
  const run = runObserver(observer, {
    params: worker(
      `on = (message) => {
         if (message.start) { say({ emit: "before" }); ${script} }
         if (message.stop) { say({ emit: message }); say({ checkpoint: "behind" }); process.exit(0); }
       };`,
    ),
  });
  const end = await run.finished;
  expect(end).toMatchObject({ outcome: "failed", error: { name: "ProcessFailed", code } });
  expect("error" in end && end.error?.message).toMatch(new RegExp(words));
  expect(run.events).toEqual(["before"]);
  expect(run.checkpoints).toEqual([]);
});

test("who ends well right behind a checkpoint that is not saved has failed all the same", async () => {
  const run = runObserver(observer, {
    params: worker(started('say({ checkpoint: 1 }); say({ checkpoint: "x".repeat(65_536) }); process.exit(0);')),
  });
  expect(await run.finished).toMatchObject({ outcome: "failed", error: { code: "checkpoint-lost" } });
});

describe("a stop", () => {
  test("does not let a checkpoint pass over a line that cannot be read", async () => {
    const run = runObserver(observer, {
      params: worker(
        `on = (message) => {
           if (message.start) say({ emit: "ready" });
           if (message.stop) { print('{"emit": NaN}\\n'); say({ checkpoint: 42 }); say({ emit: "last" }); process.exit(0); }
         };`,
        { stopTimeoutMs: 60_000 },
      ),
    });
    await run.waitForEvent(undefined, PATIENT);
    expect(await run.stop("draining")).toEqual({ outcome: "stopped" });
    expect(run.events).toEqual(["ready", "last"]);
    expect(run.checkpoints).toEqual([]);
    expect(run.logs.map(({ message }) => message)).toEqual([expect.stringContaining("nothing said from here on is saved")]);
  });

  test("is told with its reason and its time, and who ends by itself gets no signal", async () => {
    const run = runObserver(observer, {
      params: worker(
        `process.on("SIGTERM", () => say({ emit: "SIGTERM" }));
         on = (message) => {
           if (message.start) say({ emit: "ready" });
           if (message.stop) { say({ checkpoint: 9 }); say({ emit: message.stop }); setTimeout(() => process.exit(0), 100); }
         };`,
        { stopTimeoutMs: 60_000 },
      ),
    });
    await run.waitForEvent(undefined, PATIENT);
    expect(await run.stop("draining")).toEqual({ outcome: "stopped" });
    expect(run.events).toEqual(["ready", { reason: "draining", withinMs: 30_000 }]);
    expect(run.checkpoints).toEqual([{ json: 9 }]);
  });

  test("gives it no longer than its service waits, before that ends the slot with all that runs in it", async () => {
    vi.stubEnv("STOP_TIMEOUT_MS", "25000");
    onTestFinished(() => void vi.unstubAllEnvs());
    const run = runObserver(observer, {
      params: worker(
        `on = (message) => {
           if (message.start) say({ emit: "ready" });
           if (message.stop) { say({ emit: message.stop.withinMs }); process.exit(0); }
         };`,
        { stopTimeoutMs: 600_000 },
      ),
    });
    await run.waitForEvent(undefined, PATIENT);
    await run.stop();
    expect(run.events).toEqual(["ready", 10_000]);
    expect(run.logs).toMatchObject([{ level: "warn", fields: { stopTimeoutMs: 600_000, givenMs: 20_000 } }]);
  });

  test("that is not heeded is followed by SIGTERM after half of stopTimeoutMs, and by SIGKILL after all of it", async () => {
    const run = runObserver(observer, {
      params: worker(`process.on("SIGTERM", () => say({ emit: "SIGTERM" })); ${started("say({ emit: process.pid });")}`, {
        stopTimeoutMs: 10_000,
      }),
      settleWithinMs: 30_000,
    });
    const pid = await run.waitForEvent<number>(undefined, PATIENT);
    const stoppedAtMs = performance.now();
    expect(await run.stop()).toEqual({ outcome: "stopped" });
    expect(performance.now() - stoppedAtMs).toBeGreaterThanOrEqual(9_990);
    expect(run.events).toEqual([pid, "SIGTERM"]);
    expect(processIdentity(pid)).toBeNull();
  });

  test("by a lost lease is not told: it kills at once", async () => {
    const run = runObserver(observer, {
      params: worker(`on = (message) => say({ emit: message.stop ?? process.pid });`, { stopTimeoutMs: 25_000 }),
    });
    const pid = await run.waitForEvent<number>(undefined, PATIENT);
    expect(await run.stop("lease-lost")).toEqual({ outcome: "stopped" });
    expect(run.events).toEqual([pid]);
    expect(processIdentity(pid)).toBeNull();
  });
});

test("the next run has what was saved last: it counts on", async () => {
  const params = worker(
    started(
      "let n = message.start.checkpoint ?? 0; setInterval(() => { n += 1; say({ emit: n }); say({ checkpoint: n }); }, 5);",
    ),
    { stopTimeoutMs: 100 },
  );
  const first = runObserver(observer, { params });
  await eventually(() => expect(first.checkpoints.length).toBeGreaterThan(0));
  const second = await first.crash();
  const saved = (first.checkpoints.at(-1) as { json: number }).json;
  expect(await second.waitForEvent(undefined, PATIENT)).toBe(saved + 1);
  await second.stop();
});

test.runIf(isTurnOf(1))(
  "a worker that floods has each event emitted in its order, and what it saves last is saved",
  async () => {
    const run = runObserver(observer, {
      params: worker(
        started(
          `for (let n = 1; n <= 100_000; n += 1) { say({ checkpoint: n }); if (n % 100 === 0) say({ emit: n }); } process.exit(0);`,
        ),
      ),
    });
    expect(await run.finished).toEqual({ outcome: "completed" });
    expect(run.events).toEqual(Array.from({ length: 1_000 }, (_, index) => 100 * (index + 1)));
    expect(run.checkpoints.at(-1)).toEqual({ json: 100_000 });
  },
);

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) console.warn("skipped: there is no python3 here");

test.skipIf(!hasPython)(
  "the worker of docs/ways-in.md counts on from its checkpoint, and ends when it is told",
  async () => {
    const run = runObserver(observer, {
      params: {
        ...{ command: "python3", args: ["test/fixtures/workers/counter.py"], protocol: "json-lines" },
        workerParams: { everyMs: 10 },
      },
      checkpoint: { json: 41 },
    });
    expect(await run.waitForEvent(undefined, PATIENT)).toEqual({ n: 42 });
    expect(await run.stop()).toEqual({ outcome: "stopped" });
    expect(run.logs.map(({ message }) => message)).toEqual([`stopped at ${run.events.length + 41}`]);
  },
);
