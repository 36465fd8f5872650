import type { EntityManager } from "typeorm";
import { errorGroupOf } from "../../domain/error-group.ts";
import type { NewError } from "../../flows/error-book.ts";

const INSERT = `
  INSERT INTO errors (message_id, reason, detail, error_group, queue, observer_id, run_id, reporter, body, body_bytes)
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::uuid[], $8::text[],
                       $9::text[], $10::int[])
  ON CONFLICT (message_id) DO NOTHING`;

export async function recordErrors(database: Pick<EntityManager, "query">, errors: NewError[]): Promise<void> {
  if (errors.length === 0) return;
  await database.query(INSERT, [
    errors.map((e) => e.messageId),
    errors.map((e) => e.reason),
    errors.map((e) => withoutNul(e.detail)),
    errors.map((e) => errorGroupOf(withoutNul(e.detail))),
    errors.map((e) => withoutNul(e.queue)),
    errors.map((e) => e.observerId ?? null),
    errors.map((e) => e.runId ?? null),
    errors.map((e) => withoutNul(e.reporter)),
    errors.map((e) => withoutNul(e.body)),
    errors.map((e) => e.bodyBytes),
  ]);
}

/** PostgreSQL's text holds no NUL; here is the end of the line, so it is replaced rather than refused. */
const withoutNul = (text: string): string => text.replaceAll("\0", "\uFFFD");
