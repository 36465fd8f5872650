import { queryRows, runStatement } from "../servers/servers.ts";

/** Every transaction of the tasks' ledger: when, and how long it had lasted by its last statement, which says what it has read. */
const KEEP = [
  "CREATE UNLOGGED TABLE ledger_times (at timestamptz, ms float8)",
  `CREATE FUNCTION keep_ledger_time() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN
        INSERT INTO ledger_times
        VALUES (clock_timestamp(), extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000);
        RETURN NULL;
      END'`,
  `CREATE TRIGGER keep_ledger_times AFTER UPDATE OF last_seq ON task_services
     FOR EACH STATEMENT EXECUTE FUNCTION keep_ledger_time()`,
];

/** So many transactions, and what they took in ms. */
export interface LedgerTimes {
  transactions: number;
  p50: number;
  p99: number;
  most: number;
}

export async function keepLedgerTimes(databaseUrl: string): Promise<void> {
  for (const statement of KEEP) await runStatement(databaseUrl, statement);
}

/** Of those since this was asked last. */
export async function ledgerTimes(databaseUrl: string): Promise<LedgerTimes> {
  const [times] = await queryRows<LedgerTimes>(
    databaseUrl,
    `WITH kept AS (DELETE FROM ledger_times RETURNING ms)
     SELECT count(*)::int AS transactions, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS p50,
            percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) AS p99, max(ms) AS most FROM kept`,
  );
  if (times === undefined || times.transactions === 0) throw new Error("the ledger has written nothing");
  return times;
}

export const ledgerTimesInWords = ({ transactions, p50, p99, most }: LedgerTimes): string =>
  `${transactions} transactions, ${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99), ${most.toFixed(1)} ms (most)`;
