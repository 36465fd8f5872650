import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
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
afterAll(() => system?.close());

test("An observer of a type that nobody has any more is sent once a minute, and within seconds of a service that brings it back", async () => {
  const dir = temporaryFolder("types");
  writeFileSync(join(dir, "feed.ts"), idle("feed"));
  system = await freshSystem();
  await system.startManager();
  await system.startManager();
  const service = await system.startService("service-1", { env: { OBSERVERS_DIR: dir } });
  await system.createCrowd("feed", 3, {}, { type: "feed" });

  writeFileSync(join(dir, "feed.ts"), idle("renamed"));
  process.kill(service.pid, "SIGHUP");
  const waiting = `SELECT due_at - created_at > interval '30 s' AS "isLong" FROM commands WHERE kind = 'start'`;
  await eventually(
    async () =>
      expect(await queryRows(system.env.DATABASE_URL as string, waiting)).toEqual([1, 2, 3].map(() => ({ isLong: true }))),
    { timeoutMs: 20_000 },
  );

  const other = temporaryFolder("types-again");
  writeFileSync(join(other, "feed.ts"), idle("feed"));
  await system.startService("service-2", { env: { OBSERVERS_DIR: other } });
  await system.untilStatus(["feed-0", "feed-1", "feed-2"], "Processing", 20_000);
});
