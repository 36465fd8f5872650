import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceView, TypeList } from "@unacked/contracts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const observer = (type: string) => `
import { defineObserver, sleep } from "@unacked/sdk";
import { z } from "zod";
export default defineObserver({
  type: "${type}",
  params: z.object({}),
  async run({ signal }) {
    while (await sleep(1_000, signal));
  },
});
`;

/** Two folders of one deployment: the newer one has broken a file. */
const before = temporaryFolder("before");
const after = temporaryFolder("after");
for (const dir of [before, after]) writeFileSync(join(dir, "steady.ts"), observer("steady"));
writeFileSync(join(before, "feed.ts"), observer("feed"));
writeFileSync(join(after, "feed.ts"), observer("feed").replace("signal }) {", "signal ) {"));

let system: System;
beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
});
afterAll(() => system.close());

it("a file that breaks in a rolling deploy costs its own types, on the services that have it, and everybody is told", async () => {
  await system.startService("old", { env: { OBSERVERS_DIR: before } });
  for (const type of ["steady", "feed"]) await system.call("POST", "/api/v1/observers", { name: type, type });
  await system.untilStatus(["steady", "feed"], "Processing");
  const rolled = await system.startService("new", { env: { OBSERVERS_DIR: after } });
  expect(rolled.lines.find((line) => line.includes("file-not-loaded"))).toContain("feed.ts:7:22");

  const { broken } = (await system.call<TypeList>("GET", "/api/v1/types")).body;
  expect(broken).toMatchObject([{ file: join(after, "feed.ts"), place: { line: 7, column: 22 }, services: ["new"] }]);
  expect(broken[0]?.excerpt).toContain("> 7 |   async run({ signal ) {");
  const { warnings } = await system.stats();
  expect(warnings.find(({ code }) => code === "file-not-loaded")?.message).toContain("feed.ts:7:22 on new");

  // The last service that has the type goes: its observer waits, and the other one goes on.
  await system.service("old").kill("SIGTERM");
  await eventually(async () => expect((await system.get("steady")).service?.name).toBe("new"));
  await eventually(async () => expect((await system.get("feed")).status).not.toBe("Processing"));

  // Mended, and started again.
  writeFileSync(join(after, "feed.ts"), observer("feed"));
  await rolled.kill("SIGTERM");
  await system.startService("new", { env: { OBSERVERS_DIR: after } });
  await system.untilStatus(["steady", "feed"], "Processing", 30_000);
  const services = await system.listServices();
  expect(services.flatMap(({ brokenFiles }: ServiceView) => brokenFiles)).toEqual([]);
  expect((await system.stats()).warnings.filter(({ code }) => code === "file-not-loaded")).toEqual([]);
});
