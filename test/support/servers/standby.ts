import { expect } from "vitest";
import type { Postgres } from "../../../scripts/servers/postgres.mjs";
import { type TcpProxy, tcpProxy } from "../broker/tcp-proxy.ts";
import { eventually } from "../eventually.ts";
import { freshDatabase, privatePostgres, queryRows, runStatement, standbyOf } from "./servers.ts";

/** A primary and a standby of the file's own, with one database. */
export interface PrimaryAndStandby {
  primary: Postgres;
  standby: Postgres;
  /** Both, for DATABASE_URL. */
  databaseUrls: string;
  primaryUrl: string;
  standbyUrl: string;
  /** By which the standby hears of the primary. */
  wire: TcpProxy;
  /** From now on a commit is answered when the standby has it. */
  synchronous(): Promise<void>;
  /** Until the standby has all that the primary has written by now. */
  caughtUp(): Promise<void>;
  promote(): Promise<void>;
}

export async function primaryAndStandby(): Promise<PrimaryAndStandby> {
  const primary = await privatePostgres();
  const { databaseUrl: primaryUrl } = await freshDatabase(primary);
  const wire = await tcpProxy(primary.port);
  const standby = await standbyOf(primary, wire.port);
  const standbyUrl = Object.assign(new URL(primaryUrl), { port: String(standby.port) }).href;
  return {
    primary,
    standby,
    // The standby first: a manager that took whatever stands there would be found out.
    databaseUrls: `${standbyUrl}, ${primaryUrl}`,
    primaryUrl,
    standbyUrl,
    wire,
    async synchronous() {
      await runStatement(primaryUrl, "ALTER SYSTEM SET synchronous_standby_names = '*'");
      await runStatement(primaryUrl, "SELECT pg_reload_conf()");
      await eventually(async () => {
        const standbys = await queryRows(primaryUrl, "SELECT sync_state FROM pg_stat_replication");
        expect(standbys).toEqual([{ sync_state: "sync" }]);
      });
    },
    async caughtUp() {
      const [written] = await queryRows<{ lsn: string }>(primaryUrl, "SELECT pg_current_wal_lsn() AS lsn");
      await eventually(async () => {
        const [there] = await queryRows<{ has: boolean }>(
          standbyUrl,
          `SELECT pg_last_wal_replay_lsn() >= '${written?.lsn}' AS has`,
        );
        expect(there?.has).toBe(true);
      });
    },
    promote: () => runStatement(standbyUrl, "SELECT pg_promote(true, 60)"),
  };
}
