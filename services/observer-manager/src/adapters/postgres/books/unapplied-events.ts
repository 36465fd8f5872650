import type { DataSource, EntityManager } from "typeorm";
import type { KeptEvent } from "../../../operations/books/books-store.ts";
import type { UnappliedEvent, UnappliedStore } from "../../../operations/books/late-events.ts";
import { recordErrors } from "../errors/error-rows.ts";
import { withBytesBefore } from "../statements/claim-bytes.ts";
import { bytesOfAll, MAX_PAGE_BYTES } from "../statements/page-bytes.ts";

const INSERT = `
  INSERT INTO unapplied_events (error_message_id, observer_ids, batch)
  SELECT message_id, observer_ids::uuid[], batch FROM unnest($1::uuid[], $2::text[], $3::text[]) AS u (message_id, observer_ids, batch)`;

/** A proof of absence that is under way goes by these marks: it does not hold for these observers any more. */
const MARK_OBSERVERS = "UPDATE observers SET changed_xid = pg_current_xact_id() WHERE id = ANY($1)";

/** The event is deleted with its error. Index: errors_message_id_key. */
const TAKE = "DELETE FROM errors WHERE message_id = $1";

/** Leaves out the last ones where a page would exceed MAX_PAGE_BYTES: services choose how long events are. Index: unapplied_events_pkey. */
const PAGE = `
  SELECT error_message_id AS id, position, batch, ${bytesOfAll(["batch"])} AS bytes
  FROM unapplied_events WHERE position > $1 ORDER BY position LIMIT $2`;
const READ = `
  SELECT id, position, batch FROM (${withBytesBefore(PAGE, "position")}) sized
  WHERE bytes_before < ${MAX_PAGE_BYTES} ORDER BY position`;

/** Index: unapplied_events_of_message. */
const GIVE_UP = "DELETE FROM unapplied_events WHERE error_message_id = $1";

export async function keepUnapplied(tx: EntityManager, events: KeptEvent[]): Promise<void> {
  if (events.length === 0) return;
  const errors = events.map(({ error }) => error);
  await recordErrors(tx, errors);
  await tx.query(INSERT, [
    errors.map(({ messageId }) => messageId),
    events.map(({ observerIds }) => `{${observerIds.join(",")}}`),
    events.map(({ batch }) => batch),
  ]);
  await tx.query(MARK_OBSERVERS, [events.flatMap(({ observerIds }) => observerIds)]);
}

export async function takeUnapplied(tx: EntityManager, id: string): Promise<boolean> {
  const [, taken] = await tx.query<[unknown[], number]>(TAKE, [id]);
  return taken > 0;
}

export class PostgresUnappliedStore implements UnappliedStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  readUnapplied(after: string, limit: number): Promise<UnappliedEvent[]> {
    return this.#dataSource.query<UnappliedEvent[]>(READ, [after, limit]);
  }

  async giveUp(id: string): Promise<void> {
    await this.#dataSource.query(GIVE_UP, [id]);
  }
}
