import type { ErrorEntry, ErrorPage } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { encodeErrorCursor } from "../../flows/cursor.ts";
import type { ErrorPosition } from "../../flows/manager-api.ts";

/** Ids count up, so the newest is the highest. Index: errors_pkey. */
const PAGE = `
  SELECT id, reason, detail, queue, observer_id, run_id, reporter, body, body_bytes, at
  FROM errors WHERE $1::bigint IS NULL OR id < $1::bigint ORDER BY id DESC LIMIT $2`;

const COUNT = "SELECT count(*)::int AS total FROM errors";

interface ErrorRow {
  id: string;
  reason: string;
  detail: string;
  queue: string;
  observer_id: string | null;
  run_id: string | null;
  reporter: string;
  body: string;
  body_bytes: number;
  at: Date;
}

export async function listErrors(
  dataSource: DataSource,
  query: { limit: number; after?: ErrorPosition },
): Promise<ErrorPage> {
  const [rows, [count]] = await Promise.all([
    dataSource.query<ErrorRow[]>(PAGE, [query.after?.id ?? null, query.limit + 1]),
    dataSource.query<{ total: number }[]>(COUNT),
  ]);
  const items = rows.slice(0, query.limit).map(toErrorEntry);
  const last = rows.length > query.limit ? items.at(-1) : undefined;
  return { items, total: count?.total ?? 0, nextCursor: last === undefined ? null : encodeErrorCursor({ id: last.id }) };
}

function toErrorEntry(row: ErrorRow): ErrorEntry {
  const { id, reason, detail, queue, reporter, body } = row;
  return {
    ...{ id, reason, detail, queue, reporter, body },
    observerId: row.observer_id,
    runId: row.run_id,
    bodyBytes: row.body_bytes,
    at: row.at.toISOString(),
  };
}
