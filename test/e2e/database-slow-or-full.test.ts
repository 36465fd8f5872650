import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ObserverView, ProblemDetails } from "@unacked/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { type Postgres, removePostgresData, startPostgres } from "../../scripts/servers/postgres.mjs";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { proves } from "../support/runs/counts.ts";
import { freshVhost, privatePostgres } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

const CALLS = 60;
/** Of a statement: there and back. */
const SLOWER_MS = 2_000;
const FULL_FOR_MS = 30_000;
const DISK_MB = 400;

const FULL = proves("standby");
const canMount = FULL && process.getuid?.() === 0 && mounts();

let system: System;
afterEach(() => system.close());

async function start(databaseUrl: string): Promise<ObserverView[]> {
  const { amqpUrl, management } = await freshVhost();
  system = new System({ amqpUrl, databaseUrl, management });
  await system.startManager();
  await system.startService("service-1", { workers: 500 });
  return system.createMany("known", 10);
}

const rssMib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${system.managers[0]?.pid}/status`, "utf8"))?.[1]) / 1_024;

interface Asked {
  name: string;
  status: number;
  code: string | undefined;
  ms: number;
}

async function ask(name: string, params: object): Promise<Asked> {
  const sinceMs = performance.now();
  const json = { name, type: "stamp", params: { file: system.actsFile, ...params } };
  const { status, body } = await callHttp(`${system.url}/api/v1/observers`, "POST", {
    json,
    signal: AbortSignal.timeout(120_000),
  });
  return { name, status, code: (body as ProblemDetails).code, ms: performance.now() - sinceMs };
}

/** Whatever was answered, it was answered so; who ran runs in the same run; what was accepted runs. */
async function judge(known: ObserverView[], asked: Asked[]): Promise<string> {
  const count = (status: number) => asked.filter((one) => one.status === status).length;
  expect(asked.filter(({ status, code }) => status !== 201 && code !== "database-unavailable")).toEqual([]);
  const accepted = asked.filter(({ status }) => status === 201).map(({ name }) => name);
  await system.untilStatus(accepted, "Processing", 90_000);
  const after = await system.observers(known.map(({ id }) => id));
  expect(after.map(({ status, epoch }) => [status, epoch])).toEqual(known.map(({ epoch }) => ["Processing", epoch]));
  for (const each of [...system.managers, ...system.services.values()]) expect(each.exit()).toBeNull();
  const longest = (status: number) =>
    Math.max(0, ...asked.filter((one) => one.status === status).map(({ ms }) => ms)).toFixed(0);
  return `${asked.length} calls: ${count(201)} accepted (after ${longest(201)} ms at most), ${count(503)} refused (503, after ${longest(503)} ms at most)`;
}

describe.skipIf(!FULL)("a slow database, and a full disk under it", { timeout: 300_000 }, () => {
  it("each statement takes 2 s more: calls are answered, or refused in time; no run is touched, and memory stays", async () => {
    const database = await privatePostgres();
    const wire = await tcpProxy(database.databaseUrl);
    const known = await start(wire.through(database.databaseUrl));
    const before = rssMib();
    wire.delay(SLOWER_MS / 2);
    const asked = await Promise.all(Array.from({ length: CALLS }, (_, i) => ask(`slow-${i}`, {})));
    const during = rssMib();
    await wire.heal();
    const healedMs = performance.now();
    const said = await judge(known, asked);
    const rightMs = performance.now() - healedMs;
    await system.check({ maxOverlapMs: 0, timeoutMs: 60_000 });
    const figures = `RSS of the manager ${before.toFixed(0)}, ${during.toFixed(0)}, afterwards ${rssMib().toFixed(0)} MiB`;
    console.log(
      `+${SLOWER_MS} ms a statement: ${said}; right ${rightMs.toFixed(0)} ms after it was quick again; ${figures}`,
    );
    expect(rssMib()).toBeLessThan(before + 256);
  });

  it.skipIf(!canMount)(
    "the disk fills up (tmpfs, root): calls are refused; with room again all is right, nothing accepted is lost",
    async () => {
      const disk = mkdtempSync(join(tmpdir(), "unacked-disk-"));
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", disk]);
      let database: Postgres | undefined;
      try {
        database = await startPostgres({
          dir: join(disk, "postgres"),
          config: { max_wal_size: "64MB", min_wal_size: "32MB" },
        });
        const known = await start(database.databaseUrl);
        const before = rssMib();
        const { bavail, bsize } = statfsSync(disk);
        writeFileSync(join(disk, "filler"), Buffer.alloc(bavail * bsize - 1_048_576));
        const asked: Asked[] = [];
        let fullSinceMs: number | undefined;
        await eventually(
          async () => {
            // Nothing that could be compressed.
            asked.push(await ask(`full-${asked.length}`, { mark: randomBytes(90_000).toString("base64") }));
            if (asked.at(-1)?.status === 503) fullSinceMs ??= performance.now();
            expect(performance.now() - (fullSinceMs ?? Number.POSITIVE_INFINITY)).toBeGreaterThan(FULL_FOR_MS);
          },
          { timeoutMs: 120_000 },
        );
        const during = rssMib();
        rmSync(join(disk, "filler"));
        const roomMs = performance.now();
        const ended = await Promise.race([database.exited, sleep(2_000)]);
        if (ended !== undefined) await database.start();
        await system.untilReady();
        const said = await judge(known, asked);
        const rightMs = performance.now() - roomMs;
        await system.check({ maxOverlapMs: 0, timeoutMs: 60_000 });
        const figures = `RSS of the manager ${before.toFixed(0)}, ${during.toFixed(0)}, afterwards ${rssMib().toFixed(0)} MiB`;
        console.log(
          `a full disk for ${FULL_FOR_MS} ms (PostgreSQL ${ended === undefined ? "stayed up" : "ended, and was started"}): ${said}; right ${rightMs.toFixed(0)} ms after there was room; ${figures}`,
        );
        expect(rssMib()).toBeLessThan(before + 256);
      } finally {
        await system.close();
        await database?.stop();
        removePostgresData(join(disk, "postgres"));
        execFileSync("umount", ["--lazy", disk]);
        rmSync(disk, { recursive: true, force: true });
      }
    },
  );
});

function mounts(): boolean {
  const dir = mkdtempSync(join(tmpdir(), "unacked-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", dir], { stdio: "ignore" });
    execFileSync("umount", [dir]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
