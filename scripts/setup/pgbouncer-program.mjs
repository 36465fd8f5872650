import { spawnSync } from "node:child_process";

export const WHY_NO_PGBOUNCER = "there is no pgbouncer (apt-get install pgbouncer)";

/** @returns {string | null} a PgBouncer that runs; null where there is none. Debian's is not on everybody's path */
export function findPgbouncer() {
  return ["pgbouncer", "/usr/sbin/pgbouncer"].find((program) => spawnSync(program, ["--version"]).status === 0) ?? null;
}
