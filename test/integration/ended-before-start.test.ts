import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isAlive } from "../support/processes/process-tree.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { startObserverService } from "../support/system/observer-service.ts";

const NO_BROKER = "amqp://127.0.0.1:1";

test("SIGTERM while the observer files load ends a service at once with exit code 0, and its slots with it", async () => {
  const dir = temporaryFolder("ended-before-start");
  writeFileSync(
    join(dir, "slow.mjs"),
    "console.log(`loads in ${process.pid}`); await new Promise(() => setTimeout(() => {}, 600_000));",
  );
  const service = startObserverService(NO_BROKER, { env: { OBSERVERS_DIR: dir, SLOTS: "1" } });
  const line = await service.waitForLine((each) => each.includes("loads in"));
  const slot = Number(/loads in (\d+)/.exec(line)?.[1]);
  expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(service.lines.join("\n")).toContain('"event":"ended-unstarted"');
  await eventually(() => expect(isAlive(slot)).toBe(false));
});
