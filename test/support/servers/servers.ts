import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { type Cluster, startCluster } from "../../../scripts/servers/cluster/cluster.mjs";
import type { Postgres, PostgresOptions } from "../../../scripts/servers/postgres.mjs";
import { removePostgresData, startPostgres } from "../../../scripts/servers/postgres.mjs";
import type { Rabbitmq, RabbitmqOptions } from "../../../scripts/servers/rabbitmq.mjs";
import { startRabbitmq } from "../../../scripts/servers/rabbitmq.mjs";
import type { Management } from "../broker/management.ts";
import { createVhost, deleteVhost, managementOf } from "../broker/management.ts";
import { runStatement } from "./statements.ts";
import { BROKER_TEST_CONFIG, DATABASE_TEST_CONFIG, NET_TICKTIME_S } from "./test-servers.ts";

export { queryRows, runStatement } from "./statements.ts";

/**
 * Servers for one test file. Call these in `beforeAll` or at the top of a file; whatever they give is taken back at
 * the end of the file, after what the file itself does there.
 */

export interface FreshVhost {
  /** With the vhost in its path. */
  amqpUrl: string;
  vhost: string;
  management: Management;
}

type CleanUp = () => Promise<unknown> | unknown;
const cleanUps: CleanUp[] = [];

/** At the end of a file. */
export async function takeServersBack(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
}

/** An empty vhost on the run's broker, or on a broker of the file's own, with which it goes. */
export async function freshVhost(own?: Rabbitmq): Promise<FreshVhost> {
  const { amqpUrl, managementUrl } = own ?? { amqpUrl: inject("amqpUrl"), managementUrl: inject("managementUrl") };
  const vhost = uniqueName();
  await createVhost(managementUrl, vhost);
  if (own === undefined) cleanUps.push(() => deleteVhost(managementUrl, vhost));
  return { amqpUrl: withPath(amqpUrl, vhost), vhost, management: managementOf(managementUrl, vhost) };
}

/** An empty database on the run's server, or on a server of the file's own, with which it goes. */
export function freshDatabase(own?: Postgres): Promise<{ databaseUrl: string }> {
  return createDatabase(own);
}

/** Empty books on the run's server, migrated already. */
export function freshBooks(): Promise<{ databaseUrl: string }> {
  return createDatabase(undefined, ` TEMPLATE "${inject("booksTemplate")}"`);
}

async function createDatabase(own: Postgres | undefined, as = ""): Promise<{ databaseUrl: string }> {
  const serverUrl = own?.databaseUrl ?? inject("databaseUrl");
  const name = uniqueName();
  await runStatement(serverUrl, `CREATE DATABASE "${name}"${as}`);
  // WITH (FORCE): a connection that a test killed a process over may linger for a moment.
  if (own === undefined) cleanUps.push(() => runStatement(serverUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`));
  return { databaseUrl: withPath(serverUrl, name) };
}

/** `management` is that of its vhost `/`; `dir` is what `rabbitmqctl` asks for. */
export type PrivateBroker = Rabbitmq & { readonly management: Management; readonly dir: string };

/** A broker of the file's own, for files that kill it or set it. */
export async function privateBroker(options: Omit<RabbitmqOptions, "dir"> = {}): Promise<PrivateBroker> {
  const dir = temporaryFolder("rabbitmq");
  const broker = await startRabbitmq({ ...options, dir, config: { ...BROKER_TEST_CONFIG, ...options.config } });
  cleanUps.push(async () => {
    await broker.kill(); // an orderly stop takes 6 s, for data that goes anyway
    await broker.stop();
  });
  // Added to it: a spread would freeze its getters.
  return Object.assign(broker, { management: managementOf(broker.managementUrl, "/"), dir });
}

/** Three nodes of the file's own, that can be cut off from one another. */
export async function privateCluster(config: RabbitmqOptions["config"] = {}): Promise<Cluster> {
  const dir = temporaryFolder("cluster");
  const cluster = await startCluster({
    dir,
    netTicktimeS: NET_TICKTIME_S,
    plugins: ["rabbitmq_management"],
    config: { ...BROKER_TEST_CONFIG, ...config },
  });
  cleanUps.push(() => cluster.stop());
  return cluster;
}

/** An empty vhost on such a cluster, with which it goes. */
export async function freshVhostOf(cluster: Cluster): Promise<{ vhost: string; management: Management }> {
  const vhost = uniqueName();
  await createVhost(cluster.managementUrl, vhost);
  return { vhost, management: managementOf(cluster.managementUrl, vhost) };
}

/** A PostgreSQL of the file's own, for files that kill it. */
export async function privatePostgres(options: Omit<PostgresOptions, "dir"> = {}): Promise<Postgres> {
  const dir = temporaryFolder("postgres");
  cleanUps.push(() => removePostgresData(dir));
  const server = await startPostgres({ ...options, dir, config: { ...DATABASE_TEST_CONFIG, ...options.config } });
  cleanUps.push(() => server.stop());
  return server;
}

/**
 * A standby that streams what the primary writes, from its port or `through` another. It begins with a copy of the primary's files, for which that
 * is stopped and started: https://www.postgresql.org/docs/current/warm-standby.html#STANDBY-SERVER-SETUP
 */
export async function standbyOf(primary: Postgres, through = primary.port): Promise<Postgres> {
  const dir = temporaryFolder("standby");
  cleanUps.push(() => removePostgresData(dir));
  const { username, password } = new URL(primary.databaseUrl);
  const conninfo = `host=127.0.0.1 port=${through} user=${username} password=${password} application_name=standby`;
  const files = { "standby.signal": "", "postgresql.auto.conf": `primary_conninfo = '${conninfo}'\n` };
  await primary.stop();
  const standby = await startPostgres({ dir, copyOf: primary, files, config: DATABASE_TEST_CONFIG });
  cleanUps.push(() => standby.stop());
  await primary.start();
  return standby;
}

/** A folder for the file's own use, removed at its end. */
export function temporaryFolder(name: string): string {
  const dir = mkdtempSync(join(inject("runDir"), `${name}-`));
  cleanUps.push(() => {
    try {
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // A process that is just being killed wrote into it once more: it goes with the run's folder at the end.
    }
  });
  return dir;
}

function uniqueName(): string {
  return `test_${randomBytes(6).toString("hex")}`;
}

function withPath(url: string, path: string): string {
  const changed = new URL(url);
  changed.pathname = `/${path}`;
  return changed.href;
}
