import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newUuid } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../scripts/servers/free-port.mjs";
import { eventually } from "../support/eventually.ts";
import { ROOT, startProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/* The app of docs/ways-in.md, as it stands there, beside a real manager and services; docs-code.test.ts compiles it. */

let system: System;
let folder: string;
/** Of the app. */
let url: string;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("alpha", { env: { OBSERVERS_DIR: "observers" } });
  await system.startService("demo-tasks", {
    env: { POOL: "demo", TASK_WORKERS: "2", OBSERVERS_DIR: join(ROOT, "demo/dist/tasks") },
  });
  // Below the packages, so that it finds them as it would in a project of its own.
  const below = join(ROOT, "node_modules/.unacked-docs");
  mkdirSync(below, { recursive: true });
  folder = mkdtempSync(join(below, "express-"));
  const page = readFileSync(join(ROOT, "docs/ways-in.md"), "utf8");
  const [, app = ""] = /^```ts file=app\.ts\n(.*?)^```$/ms.exec(page) ?? [];
  writeFileSync(join(folder, "app.ts"), app);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
});
afterAll(async () => {
  await system?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startApp() {
  const port = await freePort();
  const env = { UNACKED_URL: system.url, PORT: String(port) };
  const app = startProcess({ file: "--import", args: ["tsx", "app.ts"], env, cwd: folder, name: "the app" });
  await app.waitForLine((line) => line.includes(String(port)));
  url = `http://127.0.0.1:${port}`;
  return app;
}

async function ask(method: string, path: string, json?: object) {
  const body = json && JSON.stringify(json);
  const answer = await fetch(`${url}${path}`, { method, body, headers: { "content-type": "application/json" } });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

test.runIf(isTurnOf(1))(
  "The app starts an observer, passes its log on, outlives the manager, and stops the observer",
  async () => {
    const app = await startApp();
    expect(await ask("GET", "/watches/tea")).toMatchObject({ status: 404, body: { code: "observer-not-found" } });
    expect(await ask("GET", "/watches/tea/log")).toMatchObject({ status: 404, body: { code: "observer-not-found" } });
    expect(await ask("PUT", "/watches/tea")).toMatchObject({ status: 200, body: { name: "shop-tea", status: "Created" } });
    await system.untilStatus(["shop-tea"], "Processing");
    expect(await ask("PUT", "/watches/tea")).toMatchObject({ body: { status: "Processing" } });

    const log = await fetch(`${url}/watches/tea/log`);
    const said = log.body?.pipeThrough(new TextDecoderStream()).getReader() ?? expect.fail("no stream");
    const hear = async (what: string) => {
      for (let text = ""; !text.includes(what); ) {
        const { value, done } = await said.read();
        if (done) expect.fail(`it ended before ${what}: ${text}`);
        text += value;
      }
    };
    await hear('"emit"');
    const port = Number(new URL(system.url).port);
    await system.managers.at(-1)?.kill("SIGKILL");
    expect(await ask("GET", "/watches/tea")).toMatchObject({ status: 503, body: { code: "unreachable" } });
    await system.startManager({ port });
    await hear('"emit"');
    expect(app.exit()).toBeNull();

    expect(await ask("DELETE", "/watches/tea")).toMatchObject({ status: 202 });
    await said.cancel();
    await eventually(async () => expect((await ask("GET", "/watches/tea")).status).toBe(404));
    await app.kill("SIGTERM");
  },
);

test.runIf(isTurnOf(0))("An order is one task, also when the app dies while somebody waits and is asked again", async () => {
  const app = await startApp();
  const path = `/orders/${newUuid()}/words`;
  expect(await ask("POST", path, { text: "two words" })).toMatchObject({ status: 200, body: { words: 2 } });
  await app.kill("SIGKILL");
  const next = await startApp();
  expect(await ask("POST", path, { text: "two words" })).toMatchObject({ status: 200, body: { words: 2 } });
  expect(await ask("POST", path, { text: "not those" })).toMatchObject({ status: 409, body: { code: "id-taken" } });
  expect((await system.call<{ total: number }>("GET", "/api/v1/tasks?type=demo-words")).body.total).toBe(1);
  await next.kill("SIGTERM");
});
