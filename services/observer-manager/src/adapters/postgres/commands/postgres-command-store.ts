import { type InventoryProof, newClaimId, type ObserverId, type RunId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { UNKNOWN_TYPE_PAUSE_MS } from "../../../domain/observers/observer-input.ts";
import {
  type Admission,
  type Claim,
  type CommandCount,
  type CommandStore,
  type DueCommand,
  dueAtOnce,
  type Settled,
  type UpdatedSpec,
} from "../../../operations/commands/command-store.ts";
import { OWN_CLAIM_HOLDS_MS, type Start } from "../../../operations/commands/own-starts.ts";
import { MESSAGE_POOL } from "../observers/reconciler-store.ts";
import { MAX_CLAIM_BYTES, withBytesBefore } from "../statements/claim-bytes.ts";
import { bytesOfAll } from "../statements/page-bytes.ts";
import { prepared } from "../statements/prepared.ts";

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

/**
 * Limits what one claim reads of each kind. Rows beyond are released, and come next.
 * @param found SQL of rows with `id`, and how many `bytes` each has. @param large its columns that may be long: null in rows beyond
 */
const withinBytes = (found: string, columns: string, large: readonly string[]): string => `
  SELECT ${columns}, ${large.map((column) => `CASE WHEN bytes_before < ${MAX_CLAIM_BYTES} THEN ${column} END AS ${column}`).join(", ")},
         bytes_before >= ${MAX_CLAIM_BYTES} AS "isBeyond"
  FROM (${withBytesBefore(found, "id")}) sized`;

/** A start of an older revision, or of an observer that somebody has or nobody wants, is not sent any more. */
const STARTS = withinBytes(
  `SELECT id, revision, name, type, params, labels, retry, coalesce(message_pool, pool) AS pool,
          silence, spec_version AS "specVersion",
          to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "createdAt", ${bytesOfAll(["params"])} AS bytes
   FROM observers WHERE id = ANY($1) AND status = 'Created'`,
  'id AS "observerId", revision, name, type, labels, retry, pool, silence, "specVersion", "createdAt"',
  ["params"],
);

/**
 * What a run that asks to be admitted starts with, as of now; no row if it does not ask any more. Indexes: runs_pkey, observers_pkey,
 * checkpoints_pkey.
 */
const ADMISSIONS = withinBytes(
  `SELECT r.id, r.fencing_token::float8 AS epoch, o.labels, o.retry, o.silence,
          CASE WHEN o.rejected_update IS NULL THEN o.params ELSE o.rejected_update #> '{keeps,params}' END AS params,
          coalesce((o.rejected_update #>> '{keeps,specVersion}')::int, o.spec_version) AS "specVersion", o.pending IS NULL AND o.status <> 'OnDeleting' AS "isWanted", c.number::float8 AS number, c.value,
          ${bytesOfAll(["o.params", "o.rejected_update", "c.value"])} AS bytes
   FROM runs r JOIN observers o ON o.id = r.observer_id
     LEFT JOIN checkpoints c ON c.run_id = r.id AND c.value IS NOT NULL
   WHERE r.id = ANY($1) AND r.state = 'Requested' AND o.requested_run_id = r.id`,
  'id, epoch, labels, retry, silence, "specVersion", "isWanted", number',
  ["params", "value"],
);

/** What a run is to be told, as of now; no row if it is not its observer's own run. Indexes: runs_pkey, observers_pkey. */
const UPDATES = withinBytes(
  `SELECT r.id, o.params, o.labels, o.retry, o.silence, o.spec_version AS "specVersion",
          o.pending IS NULL AND o.status <> 'OnDeleting' AS "isWanted", ${bytesOfAll(["o.params"])} AS bytes
   FROM runs r JOIN observers o ON o.id = r.observer_id AND o.current_run_id = r.id
   WHERE r.id = ANY($1)`,
  'id, labels, retry, silence, "specVersion", "isWanted"',
  ["params"],
);

const REMOVE = prepared(`DELETE FROM commands USING ${WITHOUT_THE_DISK} WHERE id = ANY(${STILL_CLAIMED})`);

const PUT_OFF = `
  UPDATE commands c SET claim_id = NULL, claimed_at = NULL, due_at = now() + u.due_ms * interval '1 millisecond',
                        sent_count = c.sent_count + u.sent
  FROM unnest($1::bigint[], $3::float8[], $4::int[]) AS u (id, due_ms, sent), ${WITHOUT_THE_DISK}
  WHERE c.id = u.id AND c.id = ANY(${STILL_CLAIMED})`;

/** Longer than any pause or claim (dispatcher.ts): what is due later was written by a clock that has been set back since. */
const TOO_LATE = "now() + interval '2 minutes'";
const MOVED_AT_ONCE = 10_000;

/**
 * What is claimed counts, too: it is due when its claim runs out. Index: commands_due. Not `max(due_at)`: thousands that were claimed and
 * are gone lie at that end until they are vacuumed, and each look would go past them.
 */
const NEXT_DUE = prepared(`
  SELECT extract(epoch FROM min(due_at) - now()) * 1000 AS ms,
         (SELECT true FROM commands WHERE due_at > ${TOO_LATE} ORDER BY due_at LIMIT 1) IS TRUE AS "isAnyTooLate"
  FROM commands`);

/** A claim gets the time of one that is made now: a manager that lives renews it. Index: commands_due. */
const BY_THE_NEW_CLOCK = `
  UPDATE commands SET due_at = now() + CASE WHEN claim_id IS NULL THEN 0 ELSE ${OWN_CLAIM_HOLDS_MS} END * interval '1 millisecond'
  WHERE id = ANY(ARRAY(SELECT id FROM commands WHERE due_at > ${TOO_LATE} ORDER BY due_at LIMIT ${MOVED_AT_ONCE} FOR UPDATE SKIP LOCKED))`;

/** The proof to which a `report-inventory` belongs: see migrations/0003-absence-proofs.ts. */
const proofOf = ({ messageId, revision }: CommandRow): InventoryProof | null =>
  messageId === null ? null : { markerId: messageId, round: revision };

type CommandRow = Pick<DueCommand, "id" | "kind" | "sentCount" | "traceContext" | "sentAtMs"> & {
  observerId: ObserverId;
  runId: RunId | null;
  messageId: string | null;
  revision: number;
};

type StartRow = Start & { isBeyond: boolean };

type UpdateRow = { id: RunId; isWanted: boolean; isBeyond: boolean } & UpdatedSpec;

const updateOf = ({ isWanted, params, labels, retry, silence, specVersion }: UpdateRow): UpdatedSpec | "later" =>
  isWanted ? { params, labels, retry, silence, specVersion } : "later";

type AdmissionRow = {
  id: RunId;
  isBeyond: boolean;
  epoch: number;
  isWanted: boolean;
  number: number | null;
  value: string | null;
} & Admission["spec"];

const admissionOf = ({ epoch, number, value, params, labels, retry, silence, specVersion }: AdmissionRow): Admission => ({
  epoch,
  spec: { params, labels, retry, silence, specVersion },
  ...(number !== null && value !== null && { checkpoint: { number, value } }),
});

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
    const beyond = new Set<string>();
    try {
      const read = await this.#withStarts(rows, beyond);
      const due = await this.#withUpdates(await this.#withAdmissions(read, beyond), beyond);
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

  async nextDueInMs(): Promise<number | null> {
    const [row] = await this.#dataSource.query<{ ms: string | null; isAnyTooLate: boolean }[]>(NEXT_DUE);
    if (row?.ms == null) return null;
    if (!row.isAnyTooLate) return Number(row.ms);
    await this.#dataSource.query(BY_THE_NEW_CLOCK);
    return 0;
  }

  /** @param beyond gets the ids of those for which this claim has no room */
  async #withAdmissions(due: DueCommand[], beyond: Set<string>): Promise<DueCommand[]> {
    const ids = due.flatMap((command) => (command.kind === "admit" ? [command.runId] : []));
    if (ids.length === 0) return due;
    const rows = await this.#dataSource.query<AdmissionRow[]>(ADMISSIONS, [ids]);
    noteBeyond(rows, due, "admit", beyond);
    const of = new Map(rows.map((row) => [row.id, row.isWanted ? admissionOf(row) : ("later" as const)]));
    return due.map((command) =>
      command.kind === "admit" ? { ...command, admission: of.get(command.runId) ?? null } : command,
    );
  }

  async #withUpdates(due: DueCommand[], beyond: Set<string>): Promise<DueCommand[]> {
    const ids = due.flatMap((command) => (command.kind === "update-run" ? [command.runId] : []));
    if (ids.length === 0) return due;
    const rows = await this.#dataSource.query<UpdateRow[]>(UPDATES, [ids]);
    noteBeyond(rows, due, "update-run", beyond);
    const of = new Map(rows.map((row) => [row.id, updateOf(row)]));
    return due.map((command) =>
      command.kind === "update-run" ? { ...command, spec: of.get(command.runId) ?? null } : command,
    );
  }

  async #withStarts(rows: CommandRow[], beyond: Set<string>): Promise<DueCommand[]> {
    const ids = rows.flatMap(({ kind, observerId }) => (kind === "start" ? [observerId] : []));
    const starts = ids.length === 0 ? [] : await this.#dataSource.query<StartRow[]>(STARTS, [ids]);
    const startOf = new Map(starts.map(({ isBeyond: _isBeyond, ...start }) => [start.observerId, start]));
    const unread = new Set(starts.flatMap(({ observerId, isBeyond }) => (isBeyond ? [observerId] : [])));
    for (const { id, kind, observerId } of rows) if (kind === "start" && unread.has(observerId)) beyond.add(id);
    return rows.map((row) => {
      if (row.kind === "report-inventory") return { ...row, proof: proofOf(row) } as unknown as DueCommand;
      if (row.kind === "reload") return { ...row, reloadId: row.messageId } as unknown as DueCommand;
      if (row.kind !== "start") return row as unknown as DueCommand;
      const start = startOf.get(row.observerId);
      const wanted = start?.revision === row.revision ? start : null;
      const { id, sentCount, traceContext } = row;
      return { id, sentCount, traceContext, kind: "start", start: wanted };
    });
  }
}

/** Adds the commands of this kind whose run was found but not read to `beyond`. */
function noteBeyond(
  rows: readonly { id: RunId; isBeyond: boolean }[],
  due: readonly DueCommand[],
  kind: "admit" | "update-run",
  beyond: Set<string>,
): void {
  const unread = new Set(rows.flatMap(({ id, isBeyond }) => (isBeyond ? [id] : [])));
  for (const command of due) if (command.kind === kind && unread.has(command.runId)) beyond.add(command.id);
}

/** Whether a run is told later, because its observer is being stopped: see ADMISSIONS and UPDATES. Index: observers_pkey. */
const IS_TOLD_LATER = `c.kind IN ('admit', 'update-run') AND EXISTS (
  SELECT FROM observers o WHERE o.id = c.observer_id AND (o.pending IS NOT NULL OR o.status = 'OnDeleting'))`;

/**
 * This is one pass: the table holds what is not sent or not answered yet. What is being sent is overdue until it has been sent. What was
 * never sent counts as due since it first was, however often it was put off: at once, or, for a start that was sent back, after a pause.
 */
const COUNTS = `
  SELECT kind, count(*)::int AS count,
         greatest(0, extract(epoch FROM now() - min(
           CASE WHEN sent_count > 0 OR ${IS_TOLD_LATER} THEN coalesce(claimed_at, due_at)
                ELSE least(claimed_at, due_at, created_at + ${UNKNOWN_TYPE_PAUSE_MS} * interval '1 millisecond') END)))::float8 AS "overdueS",
         greatest(0, extract(epoch FROM now() - min(created_at)))::float8 AS "oldestS"
  FROM commands c GROUP BY kind`;

export const countCommands = (dataSource: DataSource): Promise<CommandCount[]> => dataSource.query<CommandCount[]>(COUNTS);
