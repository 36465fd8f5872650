import type { ProblemDetails } from "@unacked/contracts";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, freshVhost } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

test("Who locks an observer in the books is named, and nothing else waits for it: others are stopped, a killed service's run elsewhere", {
  timeout: 120_000,
}, async () => {
  const { databaseUrl } = await freshDatabase();
  const system = new System({ ...(await freshVhost()), databaseUrl });
  onTestFinished(() => system.close());
  await system.startManager();
  await system.startService("service-1");
  const [locked] = await system.createMany("observer", 2);
  const { pid: heir } = await system.startService("service-2");

  const console = new pg.Client({ connectionString: databaseUrl, application_name: "a console" });
  await console.connect();
  onTestFinished(() => console.end());
  await console.query("BEGIN");
  await console.query("SELECT FROM observers WHERE id = $1 FOR UPDATE", [locked?.id]);

  const refused = system.call<ProblemDetails>("DELETE", "/api/v1/observers/observer-0");
  await system.remove("observer-1");
  await eventually(async () => {
    const { warnings } = await system.stats();
    const message = /^a console \(user \w+, pid \d+ of PostgreSQL\) .* holds locks that 1 session of the managers wait/;
    expect(warnings.filter(({ code }) => code === "books-blocked")).toMatchObject([
      { message: expect.stringMatching(message) },
    ]);
  });
  expect(await refused).toMatchObject({
    status: 503,
    body: { code: "database-unavailable", detail: expect.stringContaining("somebody holds a lock") },
  });

  await system.service("service-1").kill("SIGKILL");
  await eventually(() => {
    expect(system.acts().findLast(({ observerId }) => observerId === locked?.id)?.pid).toBe(heir);
  });
  await console.query("ROLLBACK");
  await eventually(async () => {
    expect((await system.stats()).warnings.map(({ code }) => code)).not.toContain("books-blocked");
  });
  await system.check({ maxOverlapMs: 500 });
});
