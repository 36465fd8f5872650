import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pssBytes } from "./proc.mjs";

const PROGRAM = fileURLToPath(new URL("../../services/observer-service/bundle/slot/main.js", import.meta.url));
/** It loads nothing for a service of another. @type {{ version: string }} */
const { version } = JSON.parse(
  readFileSync(new URL("../../services/observer-service/package.json", import.meta.url), "utf8"),
);
const MB = 1_048_576;

/**
 * What a slot costs before an author's code: it is started as its keeper starts it, and told to load a folder in which there is
 * nothing; then its watchdog runs too, and it says so.
 */
export async function measureSlotStart() {
  const dir = mkdtempSync(join(tmpdir(), "unacked-no-observers-"));
  const slot = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, UNACKED_SLOT: "1" },
    stdio: ["ignore", "ignore", "inherit", "pipe", "pipe"],
    detached: true,
  });
  const [, , , wire] = /** @type {import("node:net").Socket[]} */ (/** @type {unknown} */ (slot.stdio));
  const pid = slot.pid ?? 0;
  try {
    const beganMs = performance.now();
    const told = new Promise((resolve) => wire?.once("data", resolve));
    const service = { serviceId: "bench", serviceName: "bench", pool: "default", version };
    const permissions = { commands: [], variables: [], privateAddresses: false };
    const limits = { stopTimeoutMs: 25_000, stuckMs: 5_000, logLevel: "info" };
    wire?.write(`${JSON.stringify({ kind: "load", dir, permissions, ...limits, service })}\n`);
    await told;
    return { wallMs: performance.now() - beganMs, cpuMs: cpuOf(pid), pssMb: pssBytes(pid) / MB };
  } finally {
    process.kill(-pid, "SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Of all its threads, finer than the ticks of /proc/PID/stat. @param {number} pid */
function cpuOf(pid) {
  const ofTask = (/** @type {string} */ task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + ofTask(task), 0) / 1e6;
}
