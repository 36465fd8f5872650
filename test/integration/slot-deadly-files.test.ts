import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog } from "../../services/observer-service/src/log.ts";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { openSlots } from "../support/slots/real-slots.ts";

/* Real slots that load files which end, or hold up, whoever loads them. */

const log = createLog("silent");
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "unacked-deadly-"));
  symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules"));
  save("well", "");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function save(type: string, deed: string, run = "async () => {}"): void {
  const head =
    'import { execSync } from "node:child_process";\nimport { defineObserver } from "@unacked/sdk";\nimport { z } from "zod";\n';
  const definition = `export default defineObserver({ type: "${type}", params: z.strictObject({}), run: ${run} });\n`;
  writeFileSync(join(dir, `${type}.mjs`), `${head}${deed}\n${definition}`);
}

const SEGV = "execSync(`kill -SEGV ${process.pid}`);"; // as a broken addon does

async function open(stuckMs = 5_000) {
  const args = [join(ROOT, "services/observer-service/dist/slot/main.js")];
  const { handlers } = await openSlots(dir, 2, 1_000, { stuckMs, args });
  const types = () => handlers.catalogue.types.map(({ type }) => type);
  const broken = () => Object.fromEntries(handlers.catalogue.broken.map(({ file, problem }) => [basename(file), problem]));
  return { handlers, types, broken };
}

test("A file that ends or blocks each slot that loads it costs its own types alone, until it is mended", async () => {
  save("ends", SEGV);
  save("blocks", "for (;;);");
  const { handlers, types, broken } = await open();
  expect(types()).toEqual(["well"]);
  expect(broken()).toEqual({
    "blocks.mjs": expect.stringMatching(/FileBlocksError: .*blocks\.mjs:4/),
    "ends.mjs": expect.stringContaining("SIGSEGV"),
  });
  save("blocks", "");
  expect(await handlers.reload()).toMatchObject({ kind: "loaded", added: ["blocks"] });
  expect(Object.keys(broken())).toEqual(["ends.mjs"]);
}, 240_000);

test("Slots that come later go without a file that has become such a one, and observers of others do not wait", async () => {
  const { handlers, types } = await open();
  save("ends", SEGV);
  const before = new Set(handlers.slots().map(({ pid }) => pid));
  for (const pid of before) process.kill(pid, "SIGKILL");
  await eventually(() => expect(handlers.slots().filter(({ pid }) => before.has(pid))).toEqual([]));
  let isPlaced = false;
  const about = { observerId: newObserverId(), name: "well", type: "well", labels: {}, params: {}, retry: DEFAULT_RETRY };
  const host = { onPlaced: () => void (isPlaced = true), onSettled: () => undefined };
  handlers.start(host as never, { start: about, runId: newRunId(), log } as never);
  await eventually(() => expect(isPlaced).toBe(true), { timeoutMs: 120_000 });
  expect(types()).toEqual(["well"]);
}, 240_000);

test("A file that blocks each slot later, by a timer of its own, is named, and nobody who runs there is suspected", async () => {
  save("blocks", "setTimeout(() => { for (;;); }, 8_000);");
  save("waits", "", `({ signal }) => new Promise((end) => signal.addEventListener("abort", end))`);
  const { handlers } = await open(3_000);
  const told: string[] = [];
  const host = { onPlaced: () => told.push("placed"), onInterrupted: () => told.push("interrupted") };
  const about = { observerId: newObserverId(), name: "waits", type: "waits", labels: {}, params: {}, retry: DEFAULT_RETRY };
  handlers.start(host as never, { start: about, runId: newRunId(), log } as never);
  await eventually(() => expect(told).toEqual(["placed", "interrupted"]));
  expect(handlers.history.last()[0]?.why).toMatch(/FileBlocksError: .*blocks\.mjs has blocked/);
  expect(handlers.suspects).toBe(0);
});
