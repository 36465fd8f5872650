import type { DataSource, EntityManager } from "typeorm";
import {
  type Decision,
  type KeptAnswer,
  type RequestKey,
  type RequestStore,
  requestKey,
} from "../../../operations/requests/request-store.ts";
import type { InsertOutcome } from "../../../operations/tasks/task-store.ts";
import { rethrowRefused } from "../books/postgres-books-store.ts";
import { countCreated } from "../tasks/task-created.ts";
import { insertTasks } from "../tasks/task-insert.ts";

/** Index: task_requests_pkey. */
const FIND = `
  SELECT requester AS name, message_id AS "messageId", digest, answer AS json FROM task_requests
  WHERE (requester, message_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`;

/** Those of another manager that has not committed yet are waited for. */
const KEEP = `
  WITH kept AS (
    INSERT INTO task_requests (requester, message_id, digest, answer)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
    ON CONFLICT DO NOTHING RETURNING 1)
  SELECT count(*)::int AS count FROM kept`;

/** Index: task_requests_by_time. SKIP LOCKED: two managers sweep side by side. */
const FORGET = `
  DELETE FROM task_requests WHERE (requester, message_id) IN (
    SELECT requester, message_id FROM task_requests WHERE decided_at < now() - $1 * interval '1 millisecond'
    LIMIT $2 FOR UPDATE SKIP LOCKED)`;

type Decided = { json: string; outcomes: InsertOutcome[] }[];

/** Rolls back what was decided twice. */
class DecidedElsewhere extends Error {}

export class PostgresRequestStore implements RequestStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async find(keys: readonly RequestKey[]): Promise<Map<string, KeptAnswer>> {
    const rows = await this.#dataSource.query<(RequestKey & KeptAnswer)[]>(FIND, [
      keys.map(({ name }) => name),
      keys.map(({ messageId }) => messageId),
    ]);
    return new Map(rows.map((row) => [requestKey(row), row]));
  }

  async decide(decisions: readonly Decision[]): Promise<Decided | undefined> {
    try {
      return await this.#dataSource.transaction((tx) => decideIn(tx, decisions));
    } catch (error) {
      return error instanceof DecidedElsewhere ? undefined : rethrowRefused(error);
    }
  }

  async forget(olderThanMs: number, limit: number): Promise<number> {
    const [, count] = await this.#dataSource.query<[unknown[], number]>(FORGET, [olderThanMs, limit]);
    return count;
  }
}

async function decideIn(tx: EntityManager, decisions: readonly Decision[]): Promise<Decided> {
  const all = decisions.flatMap(({ tasks }) => tasks);
  const inserted = all.length === 0 ? [] : await countCreated(tx, await insertTasks(tx, all));
  let next = 0;
  const decided = decisions.map(({ tasks, answer }) => {
    const outcomes = inserted.slice(next, (next += tasks.length));
    return { json: answer(outcomes), outcomes };
  });
  const [kept] = await tx.query<{ count: number }[]>(KEEP, [
    decisions.map(({ name }) => name),
    decisions.map(({ messageId }) => messageId),
    decisions.map(({ digest }) => digest),
    decided.map(({ json }) => json),
  ]);
  if (kept?.count !== decisions.length) throw new DecidedElsewhere();
  return decided;
}
