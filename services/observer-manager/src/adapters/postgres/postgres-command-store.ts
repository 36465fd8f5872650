import type { ObserverId } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { CommandStore, DueCommand, Settled } from "../../flows/dispatcher.ts";
import type { FreshStarts, Start } from "../../flows/fresh-starts.ts";

/** Index: commands_due. Another manager's claims are skipped, not waited for. */
const CLAIM = `
  SELECT c.id, c.kind, c.sent_count AS "sentCount", c.observer_id AS "observerId", c.revision, c.service_id AS "serviceId",
         c.generation, c.run_id AS "runId", c.message_id AS "messageId", c.reason, c.trace_context AS "traceContext"
  FROM commands c WHERE c.due_at <= now() ORDER BY c.due_at, c.id LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** A start of an older revision, or of an observer that somebody has or nobody wants, is not sent any more. */
const STARTS = `
  SELECT id AS "observerId", revision, name, type, params, labels, retry, pool,
         to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "createdAt"
  FROM observers WHERE id = ANY($1) AND status = 'Created'`;

const REMOVE = "DELETE FROM commands WHERE id = ANY($1)";

const PUT_OFF = `
  UPDATE commands c SET due_at = now() + u.due_ms * interval '1 millisecond', sent_count = c.sent_count + u.sent
  FROM unnest($1::bigint[], $2::float8[], $3::int[]) AS u (id, due_ms, sent) WHERE c.id = u.id`;

const NEXT_DUE = "SELECT extract(epoch FROM min(due_at) - now()) * 1000 AS ms FROM commands";

type CommandRow = Pick<DueCommand, "id" | "kind" | "sentCount" | "traceContext"> & {
  observerId: ObserverId;
  revision: number;
};

export class PostgresCommandStore implements CommandStore {
  readonly #dataSource: DataSource;
  readonly #fresh: FreshStarts;

  constructor(dataSource: DataSource, fresh: FreshStarts) {
    this.#dataSource = dataSource;
    this.#fresh = fresh;
  }

  claimDue(limit: number, handle: (due: DueCommand[]) => Promise<Settled[]>): Promise<number> {
    return this.#dataSource.transaction(async (tx) => {
      const rows = await tx.query<CommandRow[]>(CLAIM, [limit]);
      if (rows.length === 0) {
        this.#fresh.forgetAll();
        return 0;
      }
      const settled = await handle(await this.#withStarts(tx, rows));
      const over = settled.filter((one) => !one.keep).map((one) => one.id);
      if (over.length > 0) await tx.query(REMOVE, [over]);
      const kept = settled.flatMap((one) => (one.keep ? [one] : []));
      if (kept.length > 0)
        await tx.query(PUT_OFF, [
          kept.map((one) => one.id),
          kept.map((one) => one.dueInMs),
          kept.map((one) => (one.wasSent ? 1 : 0)),
        ]);
      return rows.length;
    });
  }

  async nextDueInMs(): Promise<number | null> {
    const [row] = await this.#dataSource.query<{ ms: string | null }[]>(NEXT_DUE);
    return row?.ms == null ? null : Number(row.ms);
  }

  async #withStarts(tx: EntityManager, rows: CommandRow[]): Promise<DueCommand[]> {
    const starts = rows.filter((row) => row.kind === "start");
    const startOf = new Map<string, Start>();
    for (const { observerId, revision } of starts) {
      const start = this.#fresh.take(observerId, revision);
      if (start) startOf.set(observerId, start);
    }
    const unknown = starts.flatMap(({ observerId }) => (startOf.has(observerId) ? [] : [observerId]));
    const read = unknown.length === 0 ? [] : await tx.query<Start[]>(STARTS, [unknown]);
    for (const start of read) startOf.set(start.observerId, start);
    return rows.map((row) => {
      if (row.kind !== "start") return row as unknown as DueCommand;
      const start = startOf.get(row.observerId);
      const wanted = start?.revision === row.revision ? start : null;
      const { id, sentCount, traceContext } = row;
      return { id, sentCount, traceContext, kind: "start", start: wanted };
    });
  }
}
