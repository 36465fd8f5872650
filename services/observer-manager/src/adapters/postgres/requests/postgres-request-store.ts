import type { DataSource, EntityManager } from "typeorm";
import {
  type Answers,
  type Decision,
  type KeptAnswer,
  MAX_ANSWERS_LENGTH,
  type RequestKey,
  type RequestStore,
  requestKey,
  type TaskDecision,
  type TimerCancelDecision,
  type TimerDecision,
} from "../../../operations/requests/request-store.ts";
import { rethrowRefused } from "../statements/refused.ts";
import { countCreated } from "../tasks/creations/task-created.ts";
import { insertBeside } from "../tasks/creations/task-insert-beside.ts";
import { cancelTimers } from "../timers/timer-cancel.ts";
import { putTimers } from "../timers/timer-put.ts";
import { shortTimersOf } from "../timers/timer-view.ts";

/** Finds them in the order in which they are asked for; answers beyond MAX_ANSWERS_LENGTH are left out. Index: task_requests_pkey. */
const FIND = `
  SELECT name, "messageId", digest, CASE WHEN bytes_before < ${MAX_ANSWERS_LENGTH} THEN answer END AS json FROM (
    SELECT requester AS name, message_id AS "messageId", digest, answer,
      sum(octet_length(answer)) OVER (ORDER BY place ROWS UNBOUNDED PRECEDING) - octet_length(answer) AS bytes_before
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (requester, message_id, place)
    JOIN task_requests USING (requester, message_id)) found`;

/** Waits for rows of another manager that has not committed yet. */
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

  createTasks(decisions: readonly TaskDecision[]): Promise<Answers> {
    return this.#decide(decisions, async (tx, tasks) => countCreated(tx, tasks, await insertBeside(tx, tasks)));
  }

  putTimers(decisions: readonly TimerDecision[]): Promise<Answers> {
    return this.#decide(decisions, putTimers);
  }

  cancelTimers(decisions: readonly TimerCancelDecision[]): Promise<Answers> {
    return this.#decide(decisions, (tx, cancels) => cancelTimers(tx, cancels, shortTimersOf));
  }

  async forget(olderThanMs: number, limit: number): Promise<number> {
    const [, count] = await this.#dataSource.query<[unknown[], number]>(FORGET, [olderThanMs, limit]);
    return count;
  }

  async #decide<Item, Outcome>(
    decisions: readonly Decision<Item, Outcome>[],
    act: (tx: EntityManager, items: Item[]) => Promise<Outcome[]>,
  ): Promise<Answers> {
    try {
      return await this.#dataSource.transaction(async (tx) => {
        const items = decisions.flatMap((one) => one.items);
        const outcomes = items.length === 0 ? [] : await act(tx, items);
        let next = 0;
        const answers = decisions.map((one) => one.answer(outcomes.slice(next, (next += one.items.length))));
        await keep(tx, decisions, answers);
        return answers;
      });
    } catch (error) {
      return error instanceof DecidedElsewhere ? undefined : rethrowRefused(error);
    }
  }
}

type Kept = RequestKey & { digest: string };

async function keep(tx: EntityManager, decisions: readonly Kept[], answers: readonly string[]): Promise<void> {
  const [kept] = await tx.query<{ count: number }[]>(KEEP, [
    decisions.map(({ name }) => name),
    decisions.map(({ messageId }) => messageId),
    decisions.map(({ digest }) => digest),
    answers,
  ]);
  if (kept?.count !== decisions.length) throw new DecidedElsewhere();
}
