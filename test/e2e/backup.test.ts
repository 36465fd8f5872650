import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { AuditPage, ObserverView, TaskPage } from "@unacked/contracts";
import pg from "pg";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Postgres } from "../../scripts/servers/postgres.mjs";
import { findRabbitmq } from "../../scripts/servers/rabbitmq-program.mjs";
import { rabbitmqctl } from "../support/broker/rabbitmqctl.ts";
import { examplesOf } from "../support/docs/doc-examples.ts";
import { eventually } from "../support/eventually.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import {
  freshVhost,
  type PrivateBroker,
  privateBroker,
  privatePostgres,
  runStatement,
  temporaryFolder,
} from "../support/servers/servers.ts";
import { change, marked, marksOf, untilAsWanted, untilItMayChange } from "../support/system/changes.ts";
import { System } from "../support/system/system.ts";

const run = promisify(execFile);

/** Server and clients of one version, as Debian installs them: the PostgreSQL from npm has no clients. */
const INSTALLED = "/usr/lib/postgresql";
const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).toSorted((a, b) => Number(b) - Number(a)) : [];
const programs = versions
  .map((version) => join(INSTALLED, version))
  .find((folder) => ["postgres", "pg_dump", "pg_basebackup", "psql"].every((name) => existsSync(join(folder, "bin", name))));

/** `npm run prove -- standby` goes the others, too. */
const FULL = proves("standby");
const DUMP: [string, string, string] = ["pg_dump", "pg_dump", "pg_restore"];
const WAYS: [string, string, string][] = FULL ? [DUMP, ["pg_basebackup", "pg_basebackup", "cp -a unacked.base"]] : [DUMP];

/** The commands of the page, by a word that each has. */
const scripts = examplesOf("docs/backup.md").map(({ script }) => script);
const command = (word: string): string =>
  scripts.find((script) => script.includes(word)) ?? expect.fail(`no ${word} in the page`);

describe.runIf(programs !== undefined && isTurnOf(2))(
  "what docs/backup.md says (PostgreSQL with its clients in /usr/lib/postgresql)",
  () => {
    let database: Postgres;
    let broker: PrivateBroker;
    let dir: string;

    beforeAll(async () => {
      dir = temporaryFolder("backup");
      [database, broker] = await Promise.all([privatePostgres({ programs }), privateBroker()]);
      await makePlain(database.databaseUrl);
    });

    async function shell(script: string): Promise<void> {
      const bin = join(dir, "bin");
      mkdirSync(bin, { recursive: true });
      writeRabbitmqctl(join(bin, "rabbitmqctl"), broker.dir);
      await run("sh", ["-euc", script], {
        cwd: dir,
        env: {
          ...process.env,
          PATH: `${bin}:${programs}/bin:${process.env.PATH}`,
          DATABASE_URL: database.databaseUrl,
          SERVER_URL: serverUrlOf(database.databaseUrl),
          ADMIN_URL: adminUrlOf(database.databaseUrl),
          PGDATA: database.dataDir,
        },
      });
    }

    let system: System;
    /** In books, and under a vhost, of its own. */
    const start = async () => {
      const server = serverUrlOf(database.databaseUrl);
      for (const name of ["unacked", "unacked_before"])
        await runStatement(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await runStatement(server, "CREATE DATABASE unacked OWNER unacked");
      const { amqpUrl, management } = await freshVhost(broker);
      system = new System({ amqpUrl, databaseUrl: database.databaseUrl, management });
      await system.startManager();
      await system.startService("service-1", { workers: 50 });
    };
    afterEach(() => system.close());

    const statesOf = async () => (await system.listObservers()).map(({ id, name, status }) => [id, name, status]).toSorted();

    it.each(WAYS)(
      "books by %s: who runs goes on untouched, who was created since is recorded again, who was deleted since runs again",
      async (_, backUp, restore) => {
        await start();
        await untilItMayChange(system);
        const before = await system.createMany("before", 6);
        const [deleted, changed, ended] = before as [ObserverView, ObserverView, ObserverView, ...ObserverView[]];
        const untouched = before.slice(3).map(({ id }) => id);
        await shell(command(backUp));
        const since = await system.createMany("since", 5);
        const { body: nowhere } = await system.create("nowhere", {}, { startAt: new Date(Date.now() + 3_600_000) });
        await system.call("DELETE", `/api/v1/observers/${deleted.id}`);
        await system.untilStatus([deleted.id], "Deleted");
        await change(system, changed.id, { params: marked(system, "newer") });
        await untilAsWanted(system, [changed.id]);
        await change(system, ended.id, { params: { ...marked(system, "ends"), returnAfterMs: 1 } });
        await system.untilStatus([ended.id], "Completed");
        const { body: over } = await system.create("over-by-now", {
          file: join(dir, "acts-of-none.jsonl"),
          returnAfterMs: 1,
        });
        await system.untilStatus([over.id], "Completed");
        const newer = await system.get(changed.id);
        const place = await placeOf(system.url);

        await Promise.all(system.managers.map((manager) => manager.kill("SIGTERM")));
        if (restore !== "pg_restore") await database.stop();
        await shell(command(restore));
        if (restore !== "pg_restore") {
          await database.start();
          await shell(command("RESET restore_command"));
        }
        const startedMs = performance.now();
        await system.startManager();
        await eventually(
          async () => {
            const wanted = [...before, ...since].map(({ id, name }) => [id, name, "Processing"]).toSorted();
            expect(await statesOf()).toEqual(wanted);
          },
          { timeoutMs: 90_000, what: "that the books are as the page says" },
        );
        const after = await system.observers(untouched);
        expect(after.map(({ epoch }) => epoch)).toEqual(before.slice(3).map(({ epoch }) => epoch));
        const { params, specVersion } = changed;
        expect(await system.get(changed.id)).toMatchObject({ params, specVersion, observedSpecVersion: newer.specVersion });
        for (const [act, status] of Object.entries({ pause: "Paused", resume: "Processing" })) {
          await system.call("POST", `/api/v1/observers/${changed.id}/${act}`);
          await system.untilStatus([changed.id], status);
        }
        expect(await system.get(changed.id)).toMatchObject({ params, specVersion, observedSpecVersion: specVersion });
        expect(marksOf(system, changed.id)).toEqual([undefined, "newer", undefined]);
        // The counter of a server that was copied has gone back; beside what was there it goes on.
        if (restore !== "pg_restore") await countBeyond(database.databaseUrl, place);
        expect(await firstBehind(system.url, place)).toBe("resync");
        for (const { id } of [nowhere, over]) expect((await system.call("GET", `/api/v1/observers/${id}`)).status).toBe(404);
        const { body: audit } = await system.call<AuditPage>("GET", "/api/v1/audit?action=observer.take-back");
        expect(audit.items.reduce((sum, { count }) => sum + count, 0)).toBe(since.length);
        await system.check({ maxOverlapMs: 0, timeoutMs: 60_000 });
        console.log(
          `${backUp}: ${untouched.length} untouched, ${since.length} recorded again, 1 deleted and 1 completed run again; right ${(performance.now() - startedMs).toFixed(0)} ms after the manager's start`,
        );
      },
      240_000,
    );

    it("with an application in the same database: its tables, its rights and what it has asked for come back, too", async () => {
      await start();
      const shop = Object.assign(new URL(database.databaseUrl), { username: "the_shop" }).href;
      const asAdmin = (statement: string) => runStatement(adminUrlOf(database.databaseUrl), statement);
      await asAdmin(`CREATE ROLE the_shop LOGIN PASSWORD '${new URL(shop).password}'`);
      await asAdmin("CREATE SCHEMA shop AUTHORIZATION the_shop");
      await asAdmin("GRANT EXECUTE ON FUNCTION unacked_create_task TO the_shop");
      const order = "INSERT INTO shop.orders SELECT task_id FROM unacked_create_task('send-invoice')";
      await runStatement(shop, `CREATE TABLE shop.orders (task_id uuid PRIMARY KEY); ${order}`);
      await expect(shell(command("pg_dump"))).rejects.toThrow("permission denied for schema shop");
      await shell(command("pg_dumpall"));
      await runStatement(shop, "DELETE FROM shop.orders");

      await Promise.all(system.managers.map((manager) => manager.kill("SIGTERM")));
      await shell(command('--dbname="$ADMIN_URL"'));
      await system.startManager();
      await runStatement(shop, order);
      const { body } = await system.call<TaskPage>("GET", "/api/v1/tasks?type=send-invoice");
      const client = new pg.Client({ connectionString: shop });
      await client.connect();
      const { rows } = await client.query("SELECT task_id AS id FROM shop.orders");
      await client.end();
      expect(rows.map(({ id }) => id).toSorted()).toEqual(body.items.map(({ id }) => id).toSorted());
      expect(rows).toHaveLength(2);
    }, 120_000);

    it.skipIf(!FULL)(
      "the broker by its definitions: an empty one gets them, and every observer is sent again and runs, each once",
      async () => {
        await start();
        const before = await system.createMany("observer", 5);
        await shell("rabbitmqctl add_user somebody else");
        await shell(command("export_definitions"));
        expect(JSON.parse(readFileSync(join(dir, "unacked.definitions.json"), "utf8"))).toHaveProperty("permissions");
        await broker.kill();
        rmSync(join(broker.dir, "data"), { recursive: true });
        await broker.start();
        expect(await users()).not.toContain("somebody");
        await shell(command("import_definitions"));
        expect(await users()).toContain("somebody");
        await eventually(
          async () => {
            const after = await system.observers(before.map(({ id }) => id));
            expect(after.map((one) => [one.status, one.revision])).toEqual(before.map(() => ["Processing", 2]));
          },
          { timeoutMs: 90_000 },
        );
        await system.check({ maxOverlapMs: 0, timeoutMs: 60_000 });
      },
      240_000,
    );

    const users = () => rabbitmqctl(broker.dir, "list_users", "--silent");
  },
);

/** Who may create databases, by the password of the user of the books. */
const serverUrlOf = (databaseUrl: string): string =>
  Object.assign(new URL(databaseUrl), { pathname: "/postgres", username: "administrator" }).href;

/** The same user, in the database of the books. */
const adminUrlOf = (databaseUrl: string): string => Object.assign(new URL(databaseUrl), { username: "administrator" }).href;

/** The user of the books, who is all there is of a fresh server, becomes one who owns their database and no more. */
async function makePlain(databaseUrl: string): Promise<void> {
  const { password } = new URL(databaseUrl);
  await runStatement(databaseUrl, `CREATE ROLE administrator SUPERUSER LOGIN PASSWORD '${password}'`);
  await runStatement(serverUrlOf(databaseUrl), "ALTER ROLE unacked RENAME TO founder");
  await runStatement(serverUrlOf(databaseUrl), `CREATE ROLE unacked LOGIN REPLICATION PASSWORD '${password}'`);
}

/** Where a client stands who has read all that was told until now. */
async function placeOf(url: string): Promise<string> {
  const client = await followEvents(`${url}/api/v1/events`);
  await eventually(() => client.events.some(({ event }) => event === "ready"));
  client.close();
  return client.events.at(-1)?.id ?? expect.fail("it has no place");
}

/** Until that place is one of transactions that these books have given, too. */
async function countBeyond(databaseUrl: string, place: string): Promise<void> {
  const last = place.split("-").at(-1);
  await runStatement(
    databaseUrl,
    `DO $$ BEGIN WHILE pg_current_xact_id()::text::bigint <= ${last} LOOP COMMIT; END LOOP; END $$`,
  );
}

/** What is told first to a client who comes back with that place. */
async function firstBehind(url: string, place: string): Promise<string | undefined> {
  const client = await followEvents(`${url}/api/v1/events`, { "last-event-id": place });
  await eventually(() => client.events.length > 0);
  client.close();
  return client.events[0]?.event;
}

/** As Debian gives it to an operator on the broker's machine: it finds the node by itself, and runs in a folder of RabbitMQ's. */
function writeRabbitmqctl(file: string, brokerDir: string): void {
  const { nodeName, epmdPort } = JSON.parse(readFileSync(join(brokerDir, "node.json"), "utf8"));
  const program = findRabbitmq() ?? expect.fail("RabbitMQ is not installed here");
  const words = program.command(brokerDir, [program.ctl, "-n", nodeName]).map((word) => `'${word}'`);
  const env = `HOME='${join(brokerDir, "home")}' ERL_EPMD_PORT=${epmdPort} RABBITMQ_CONF_ENV_FILE=/dev/null LC_ALL=C.UTF-8`;
  writeFileSync(file, `#!/bin/sh\ncd '${brokerDir}'\n${env} exec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
}
