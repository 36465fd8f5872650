import { queryRows, runStatement } from "../servers/servers.ts";

/** Every claim that took something: when, how many, and how long its statement had lasted by then. */
const KEEP = [
  "CREATE UNLOGGED TABLE claim_times (at timestamptz, ms float8, count int)",
  `CREATE FUNCTION keep_claim_time() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN
        INSERT INTO claim_times
        SELECT clock_timestamp(), extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000, count(*)
        FROM is_now JOIN was USING (id) WHERE is_now.status = ''Sent'' AND was.status = ''Ready'' HAVING count(*) > 0;
        RETURN NULL;
      END'`,
  `CREATE TRIGGER keep_claim_times AFTER UPDATE ON tasks REFERENCING OLD TABLE AS was NEW TABLE AS is_now
     FOR EACH STATEMENT EXECUTE FUNCTION keep_claim_time()`,
];

/** So many claims, and what they took in ms: half of them no more than `p50`, all no more than `most`. */
export interface ClaimTimes {
  claims: number;
  p50: number;
  p99: number;
  most: number;
}

export async function keepClaimTimes(databaseUrl: string): Promise<void> {
  for (const statement of KEEP) await runStatement(databaseUrl, statement);
}

/** Of the claims between two times of PostgreSQL, of all of them without. */
export async function claimTimes(databaseUrl: string, from = "-infinity", to = "infinity"): Promise<ClaimTimes> {
  const [times] = await queryRows<ClaimTimes>(
    databaseUrl,
    `SELECT count(*)::int AS claims, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS p50,
            percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) AS p99, max(ms) AS most
     FROM claim_times WHERE at >= '${from}' AND at < '${to}'`,
  );
  if (times === undefined || times.claims === 0) throw new Error(`nothing was claimed between ${from} and ${to}`);
  return times;
}

export const claimTimesInWords = ({ claims, p50, p99, most }: ClaimTimes): string =>
  `${claims} claims, ${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99), ${most.toFixed(1)} ms (most)`;
