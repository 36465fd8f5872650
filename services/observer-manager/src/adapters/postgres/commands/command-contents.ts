import type { InventoryProof, ObserverId, RunId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { Admission, DueCommand, UpdatedSpec } from "../../../operations/commands/command-store.ts";
import type { Start } from "../../../operations/commands/own-starts.ts";
import { MAX_CLAIM_BYTES, withBytesBefore } from "../statements/claim-bytes.ts";
import { bytesOfAll } from "../statements/page-bytes.ts";

/** A command as its row has it. What it is sent with stands in the rows of observers and runs, and is read when it is claimed. */
export type CommandRow = Pick<DueCommand, "id" | "kind" | "sentCount" | "traceContext" | "sentAtMs"> & {
  observerId: ObserverId;
  runId: RunId | null;
  messageId: string | null;
  revision: number;
};

/**
 * Reads what claimed commands are sent with, as of now, in their order.
 * @returns `beyond`: the ids of those for which one claim has no room
 */
export async function readContents(db: DataSource, rows: CommandRow[]): Promise<{ due: DueCommand[]; beyond: Set<string> }> {
  const beyond = new Set<string>();
  const read = await withStarts(db, rows, beyond);
  const due = await withUpdates(db, await withAdmissions(db, read, beyond), beyond);
  return { due, beyond };
}

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
  `SELECT r.id, r.fencing_token::float8 AS "fencingToken", o.labels, o.retry, o.silence,
          CASE WHEN o.rejected_update IS NULL THEN o.params ELSE o.rejected_update #> '{keeps,params}' END AS params,
          coalesce((o.rejected_update #>> '{keeps,specVersion}')::int, o.spec_version) AS "specVersion", o.pending IS NULL AND o.status <> 'OnDeleting' AS "isWanted", c.number::float8 AS number, c.value,
          ${bytesOfAll(["o.params", "o.rejected_update", "c.value"])} AS bytes
   FROM runs r JOIN observers o ON o.id = r.observer_id
     LEFT JOIN checkpoints c ON c.run_id = r.id AND c.value IS NOT NULL
   WHERE r.id = ANY($1) AND r.state = 'Requested' AND o.requested_run_id = r.id`,
  'id, "fencingToken", labels, retry, silence, "specVersion", "isWanted", number',
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

/** The proof to which a `report-inventory` belongs: see migrations/0003-absence-proofs.ts. */
const proofOf = ({ messageId, revision }: CommandRow): InventoryProof | null =>
  messageId === null ? null : { markerId: messageId, round: revision };

type StartRow = Start & { isBeyond: boolean };

type UpdateRow = { id: RunId; isWanted: boolean; isBeyond: boolean } & UpdatedSpec;

const updateOf = ({ isWanted, params, labels, retry, silence, specVersion }: UpdateRow): UpdatedSpec | "later" =>
  isWanted ? { params, labels, retry, silence, specVersion } : "later";

type AdmissionRow = {
  id: RunId;
  isBeyond: boolean;
  fencingToken: number;
  isWanted: boolean;
  number: number | null;
  value: string | null;
} & Admission["spec"];

const admissionOf = ({
  fencingToken,
  number,
  value,
  params,
  labels,
  retry,
  silence,
  specVersion,
}: AdmissionRow): Admission => ({
  fencingToken,
  spec: { params, labels, retry, silence, specVersion },
  ...(number !== null && value !== null && { checkpoint: { number, value } }),
});

/** @param beyond gets the ids of those for which this claim has no room */
async function withAdmissions(db: DataSource, due: DueCommand[], beyond: Set<string>): Promise<DueCommand[]> {
  const ids = due.flatMap((command) => (command.kind === "admit" ? [command.runId] : []));
  if (ids.length === 0) return due;
  const rows = await db.query<AdmissionRow[]>(ADMISSIONS, [ids]);
  noteBeyond(rows, due, "admit", beyond);
  const of = new Map(rows.map((row) => [row.id, row.isWanted ? admissionOf(row) : ("later" as const)]));
  return due.map((command) =>
    command.kind === "admit" ? { ...command, admission: of.get(command.runId) ?? null } : command,
  );
}

async function withUpdates(db: DataSource, due: DueCommand[], beyond: Set<string>): Promise<DueCommand[]> {
  const ids = due.flatMap((command) => (command.kind === "update-run" ? [command.runId] : []));
  if (ids.length === 0) return due;
  const rows = await db.query<UpdateRow[]>(UPDATES, [ids]);
  noteBeyond(rows, due, "update-run", beyond);
  const of = new Map(rows.map((row) => [row.id, updateOf(row)]));
  return due.map((command) =>
    command.kind === "update-run" ? { ...command, spec: of.get(command.runId) ?? null } : command,
  );
}

async function withStarts(db: DataSource, rows: CommandRow[], beyond: Set<string>): Promise<DueCommand[]> {
  const ids = rows.flatMap(({ kind, observerId }) => (kind === "start" ? [observerId] : []));
  const starts = ids.length === 0 ? [] : await db.query<StartRow[]>(STARTS, [ids]);
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
