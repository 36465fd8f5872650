import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { queryRows, temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const idle = (type: string) => `
import { defineObserver, sleep } from "@unacked/sdk";
import { z } from "zod";
export default defineObserver({
  type: "${type}",
  params: z.object({}),
  async run({ signal }) {
    while (await sleep(1_000_000, signal));
  },
});
`;

let system: System;
let dir: string;
beforeEach(async () => {
  dir = temporaryFolder("types");
  writeFileSync(join(dir, "feed.ts"), idle("feed"));
  system = await freshSystem();
  await system.startManager();
});
afterEach(() => system.close());

/** All observers of `feed` wait for their type from then on, for a minute each. @param count of all there are */
async function takeTypeFrom(service: RunningProcess, count: number): Promise<void> {
  writeFileSync(join(dir, "feed.ts"), idle("renamed"));
  process.kill(service.pid, "SIGHUP");
  const waiting = `SELECT due_at - created_at > interval '30 s' AS "isLong" FROM commands WHERE kind = 'start'`;
  await eventually(
    async () =>
      expect(await queryRows(system.env.DATABASE_URL as string, waiting)).toEqual(
        Array.from({ length: count }, () => ({ isLong: true })),
      ),
    { timeoutMs: 20_000 },
  );
}

const startFeeds = (name: string, env: Record<string, string> = {}) => {
  const folder = temporaryFolder("types-again");
  writeFileSync(join(folder, "feed.ts"), idle("feed"));
  return system.startService(name, { env: { OBSERVERS_DIR: folder, ...env } });
};

test("Observers of a type that nobody has any more wait for a minute, or for a service that brings it back", async () => {
  await system.startManager();
  const service = await system.startService("service-1", { env: { OBSERVERS_DIR: dir } });
  await system.createCrowd("feed", 3, {}, { type: "feed" });
  await takeTypeFrom(service, 3);

  await startFeeds("service-2");
  await system.untilStatus(["feed-0", "feed-1", "feed-2"], "Processing", 20_000);
});

test("Whoever pauses one that waits so, or moves it to a pool that has its type, does not wait for that minute", async () => {
  const service = await system.startService("service-1", { env: { OBSERVERS_DIR: dir } });
  await startFeeds("service-2", { POOL: "eu" });
  await system.createCrowd("feed", 2, {}, { type: "feed" });
  await takeTypeFrom(service, 2);

  expect((await system.call("PATCH", "/api/v1/observers/feed-0", { pool: "eu" })).status).toBe(202);
  expect((await system.call("POST", "/api/v1/observers/feed-1/pause")).status).toBe(202);
  await Promise.all([
    system.untilStatus(["feed-0"], "Processing", 20_000),
    system.untilStatus(["feed-1"], "Paused", 20_000),
  ]);
});
