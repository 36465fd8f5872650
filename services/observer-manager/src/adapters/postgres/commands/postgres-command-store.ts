import { newClaimId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { type Claim, type CommandStore, dueAtOnce, type Settled } from "../../../operations/commands/command-store.ts";
import { MESSAGE_POOL } from "../observers/reconciler-store.ts";
import { prepared } from "../statements/prepared.ts";
import { type CommandRow, readContents } from "./command-contents.ts";
import { readNextDueInMs } from "./command-due-times.ts";

/**
 * Stands in a statement whose commit is not to wait for the disk. A crash of PostgreSQL may forget a claim or a settlement,
 * as it forgets the locks of a transaction: then the command is sent again. Others wait no longer for the disk than they
 * must.
 */
const WITHOUT_THE_DISK = "(SELECT set_config('synchronous_commit', 'off', true)) AS without_the_disk";

/*
 * Rows are named by an array that is made first, and never by a join: this table is empty one moment and holds thousands of rows
 * the next. A vacuum that found it empty lets PostgreSQL plan a join for one row, as a loop through all of both sides: renewing a claim
 * of 2,000 among 10,000 took 7 s.
 */

/**
 * Index: commands_due. What another manager is claiming, or the ledger is forgetting, is skipped and not waited for. A claim
 * that ran out is due like any other: its manager is dead, or has not been able to say for as long that it lives. A stop is taken for
 * sent: it is sent again until it is answered, so nothing needs to be written once it has been, and a stop that is sent twice is one. An order that
 * takes back another deletes it, so what is claimed of it later has a later `sentAtMs`: it is the clock's, and not that of the transaction's begin.
 */
const claim = (which: string): string => `
  WITH claimed AS (
    UPDATE commands c SET
      claim_id = CASE WHEN kind <> 'stop' THEN $2::uuid END, claimed_at = CASE WHEN kind <> 'stop' THEN now() END,
      due_at = now() + interval '1 millisecond' *
        CASE WHEN kind = 'stop' THEN least($5::float8, $4::float8 * 2 ^ least(sent_count, 16)) ELSE $3::float8 END,
      sent_count = sent_count + CASE WHEN kind = 'stop' THEN 1 ELSE 0 END
    FROM ${WITHOUT_THE_DISK} WHERE c.id = ANY(ARRAY(
      SELECT id FROM commands m WHERE due_at <= now() ${which}
      ORDER BY due_at, id LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING c.id, c.kind, c.sent_count AS "sentCount", c.observer_id AS "observerId", c.revision,
              c.service_id AS "serviceId", c.generation, c.run_id AS "runId", c.message_id AS "messageId", c.reason,
              c.trace_context AS "traceContext",
              CASE WHEN c.kind IN ('drain', 'cordon', 'uncordon') THEN (extract(epoch FROM clock_timestamp()) * 1000)::float8 END AS "sentAtMs"
  )
  SELECT * FROM claimed ORDER BY id`;
const CLAIM = prepared(claim(""));
/**
 * The same without starts of the pools $6. The pool of each due start is looked up in observers_pkey, by a subselect, which is never
 * hashed.
 */
const CLAIM_BESIDE = claim(
  `AND (kind <> 'start' OR coalesce((SELECT ${MESSAGE_POOL} FROM observers o WHERE o.id = m.observer_id), '') <> ALL ($6::text[]))`,
);

/**
 * The ids of these commands that still belong to this claim. A locked one is just being forgotten, or wanted at once, by a
 * transaction that may wait for a lock of ours: it is left to that, so that neither ever waits for the other.
 */
const STILL_CLAIMED = "ARRAY(SELECT id FROM commands WHERE id = ANY($1) AND claim_id = $2 FOR UPDATE SKIP LOCKED)";

/** Stops are due again after this time if they were claimed together with what could not be read. */
const UNREAD_AGAIN_MS = 1_000;

/** Puts back stops that were not sent after all. One that was asked for once more meanwhile stays due at once, which is sooner. */
const STOPS_NOT_SENT = `
  UPDATE commands SET due_at = least(due_at, now() + $2 * interval '1 millisecond'), sent_count = greatest(0, sent_count - 1)
  FROM ${WITHOUT_THE_DISK} WHERE id = ANY(ARRAY(
    SELECT id FROM commands WHERE id = ANY($1) AND kind = 'stop' AND claim_id IS NULL FOR UPDATE SKIP LOCKED))`;

const RENEW = `
  UPDATE commands SET due_at = now() + $3 * interval '1 millisecond'
  FROM ${WITHOUT_THE_DISK} WHERE id = ANY(${STILL_CLAIMED})`;

const REMOVE = prepared(`DELETE FROM commands USING ${WITHOUT_THE_DISK} WHERE id = ANY(${STILL_CLAIMED})`);

const PUT_OFF = `
  UPDATE commands c SET claim_id = NULL, claimed_at = NULL, due_at = now() + u.due_ms * interval '1 millisecond',
                        sent_count = c.sent_count + u.sent
  FROM unnest($1::bigint[], $3::float8[], $4::int[]) AS u (id, due_ms, sent), ${WITHOUT_THE_DISK}
  WHERE c.id = u.id AND c.id = ANY(${STILL_CLAIMED})`;

/** Claims what is due, and writes down what became of it: a claim is a mark in the row, and no transaction stays open for it. */
export class PostgresCommandStore implements CommandStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async claimDue(...[limit, holdMs, stopPauses, fullPools = []]: Parameters<CommandStore["claimDue"]>): Promise<Claim> {
    const id = newClaimId();
    const asked = [limit, id, holdMs, stopPauses.firstMs, stopPauses.maxMs];
    const rows = await (fullPools.length === 0
      ? this.#dataSource.query<CommandRow[]>(CLAIM, asked)
      : this.#dataSource.query<CommandRow[]>(CLAIM_BESIDE, [...asked, fullPools]));
    try {
      const { due, beyond } = await readContents(this.#dataSource, rows);
      if (beyond.size > 0) await this.settle({ id }, [...beyond].map(dueAtOnce));
      return { id, due: due.filter((command) => !beyond.has(command.id)) };
    } catch (error) {
      const stops = rows.flatMap((row) => (row.kind === "stop" ? [row.id] : []));
      if (stops.length > 0) await this.#dataSource.query(STOPS_NOT_SENT, [stops, UNREAD_AGAIN_MS]);
      throw error;
    }
  }

  async renew({ id, due }: Claim, holdMs: number): Promise<void> {
    await this.#dataSource.query(RENEW, [due.map((command) => command.id), id, holdMs]);
  }

  async settle({ id }: Pick<Claim, "id">, settled: Settled[]): Promise<void> {
    const over = settled.filter((one) => !one.keep).map((one) => one.id);
    if (over.length > 0) await this.#dataSource.query(REMOVE, [over, id]);
    const [unsent] = settled.flatMap((one) => (one.keep === "unsent-stop" ? [one] : []));
    const unsentIds = settled.flatMap((one) => (one.keep === "unsent-stop" ? [one.id] : []));
    if (unsent !== undefined) await this.#dataSource.query(STOPS_NOT_SENT, [unsentIds, unsent.dueInMs]);
    const kept = settled.flatMap((one) => (one.keep === true ? [one] : []));
    if (kept.length > 0)
      await this.#dataSource.query(PUT_OFF, [
        kept.map((one) => one.id),
        id,
        kept.map((one) => one.dueInMs),
        kept.map((one) => (one.wasSent ? 1 : 0)),
      ]);
  }

  nextDueInMs(): Promise<number | null> {
    return readNextDueInMs(this.#dataSource);
  }
}
