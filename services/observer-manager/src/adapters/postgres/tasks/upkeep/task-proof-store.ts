import type { TaskId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { IN_DOUBT_AFTER_MS, MAY_HOLD_MS, NOT_JUDGED_MS } from "../../../../domain/tasks/proof-times.ts";
import type { PoolInDoubt } from "../../../../domain/tasks/proof-turns.ts";
import type { TaskProof, TaskProofStore, TaskSession } from "../../../../operations/tasks/upkeep/task-proof-store.ts";
import { ByTheNewClock } from "../../statements/by-the-new-clock.ts";
import { Looks } from "../../statements/looks.ts";
import { AGO_MS, IN_THE_FUTURE } from "../../statements/time-ago.ts";
import { CANCELLED, NEXT_IF_CANCELLED } from "../ended-task-rows.ts";
import { interruptedNote, onService } from "../task-interruptions.ts";
import { MAY_HOLD, TASK_SERVICE_LIVES } from "../task-services.ts";

/** Tasks that were sent by a clock that has been set back: they would be in no doubt until it is there again. Index: tasks_in_flight. */
const SENT_AHEAD = { table: "tasks", which: "status IN ('Sent', 'Running')", dueAt: "now()", nextAt: "sent_at" };

/**
 * Index: tasks_in_flight. A service that is not in the books (any more), or in another generation, has it no longer. One that is
 * there should have told the end of what was cancelled a minute ago. What somebody outside has taken is no service's: it has its
 * lease.
 */
const IN_DOUBT = `
  SELECT t.pool, bool_or(t.status = 'Sent' OR s.id IS NULL OR t.cancel_requested_at < now() - interval '1 minute'
    OR t.cancel_requested_at ${IN_THE_FUTURE}) AS "isUrgent"
  FROM tasks t
  LEFT JOIN services s ON s.id = t.service_id AND s.generation = t.service_generation AND s.state IN ('Alive', 'Suspect')
  WHERE t.status IN ('Sent', 'Running') AND t.sent_at < now() - interval '${IN_DOUBT_AFTER_MS} ms' AND t.lease_until IS NULL GROUP BY t.pool`;

const PROVEN = "SELECT pool FROM task_proofs";
const FORGET = "DELETE FROM task_proofs WHERE NOT pool = ANY($1)";

const FIND = `
  SELECT pool, marker_id AS "markerId", services, answered, ${AGO_MS("seen_at")} AS "seenAgoMs", ${AGO_MS("begun_at")} AS "beganAgoMs",
         ${AGO_MS("asked_at")} AS "askedAgoMs"
  FROM task_proofs WHERE pool = $1`;

/**
 * Suspect services count, too: until their connection is known to be gone the broker keeps their messages from others. What they tell of
 * tasks is read from the queue by which they say that a marker was seen: a session may be known here before it is in the books. Those that
 * have no type of tasks any more count, too, as what they took may run still; a later session of these has nothing of tasks, and tells
 * nothing. So do those that ended lately: the broker may keep what they held for a minute.
 */
const SESSIONS = `
  SELECT t.id || '.' || greatest(t.generation, s.generation) AS name, is_living AS "isLiving",
         t.workers > 0 AND NOT t.draining AS "isConsuming", coalesce(s.ended_at > begun_at AND NOT s.ended_at ${IN_THE_FUTURE}, false) AS "hasEndedSince"
  FROM task_services t LEFT JOIN services s USING (id)
    LEFT JOIN (SELECT begun_at FROM task_proofs WHERE pool = $1) p ON true,
  LATERAL (
    SELECT coalesce(s.state IN ('Alive', 'Suspect'), false) OR (
      coalesce(t.generation > s.generation, true) AND t.${TASK_SERVICE_LIVES}) AS is_living) alive
  WHERE t.pool = $1 AND NOT coalesce(t.workers = 0 AND s.generation > t.generation, false)
    AND (is_living OR s.ended_at > least(begun_at, now() - interval '${MAY_HOLD_MS} ms')) ORDER BY 1`;

const BEGIN = `
  WITH fresh AS (
    INSERT INTO task_proofs (pool, marker_id, services, answered, held) SELECT $1, $2, $3, $4, ARRAY(
      SELECT send_id FROM tasks WHERE pool = $1 AND status = 'Running' AND lease_until IS NULL AND service_id || '.' || service_generation = ANY($4::text[]))
    ON CONFLICT DO NOTHING RETURNING pool)
  SELECT pool FROM fresh`;

const ASKED = `
  UPDATE task_proofs SET asked_at = now(), services = ARRAY(SELECT DISTINCT unnest(services || $2::text[]))
  WHERE marker_id = $1`;
const DROP = "DELETE FROM task_proofs WHERE marker_id = $1";

/**
 * Takes back what was Sent well before the marker was (a message that is published after its claim's commit may be behind it), is still the
 * same send, and in no answer; these are looked up in a hash, as thousands may run for long. A proof that was begun by a clock that was set
 * back since judges nothing: what was sent behind its marker would be before it. Index: tasks_in_flight.
 */
const CONCLUDE = `
  WITH proof AS (
    DELETE FROM task_proofs WHERE pool = $1 AND marker_id = $2 AND services <@ answered RETURNING begun_at, held
  ), absent AS (
    UPDATE tasks t SET status = 'Ready', send_id = NULL, run_id = NULL, ${NEXT_IF_CANCELLED},
      interruptions = t.interruptions + (t.status = 'Running')::int,
      story = CASE WHEN t.status = 'Running'
        THEN coalesce(t.story, '{}') || ${interruptedNote(onService({ reason: "'missing-from-inventory'" }))} ELSE t.story END
    FROM proof p
    WHERE t.pool = $1 AND t.status IN ('Sent', 'Running') AND t.lease_until IS NULL
      AND p.begun_at <= now() AND t.sent_at < p.begun_at - interval '${NOT_JUDGED_MS} ms' AND t.send_id NOT IN (SELECT unnest(held) FROM proof)
    RETURNING t.id, t.cancel_requested_at IS NOT NULL AS cancelling)
  SELECT id, cancelling FROM absent`;

/**
 * Takes back what was cancelled on a service that ended longer ago than a broker keeps what it held: until another comes that takes tasks
 * of its pool, and is free, there is nobody to tell its end. Its message is refused when it comes to one, as that of any cancelled task.
 * Index: tasks_cancelling.
 */
const ABANDONED = `
  WITH abandoned AS (
    UPDATE tasks t SET status = 'Ready', send_id = NULL, run_id = NULL, ${NEXT_IF_CANCELLED}, interruptions = t.interruptions + 1,
      story = coalesce(t.story, '{}') || ${interruptedNote(onService({ reason: "'service-gone'" }))}
    WHERE id = ANY(ARRAY(
      SELECT c.id FROM tasks c LEFT JOIN services s ON s.id = c.service_id
      WHERE c.cancel_requested_at IS NOT NULL AND c.status = 'Running' AND c.lease_until IS NULL
        AND CASE WHEN s.id IS NULL THEN NOT EXISTS (SELECT FROM task_services k WHERE k.id = c.service_id AND k.${MAY_HOLD})
            ELSE s.generation >= c.service_generation AND (s.ended_at < now() - interval '${MAY_HOLD_MS} ms' OR s.ended_at ${IN_THE_FUTURE}) END
      LIMIT $1 FOR UPDATE OF c SKIP LOCKED))
    RETURNING t.id, t.cancel_requested_at IS NOT NULL AS cancelling)
  SELECT id, cancelling FROM abandoned`;

export class PostgresTaskProofStore implements TaskProofStore {
  readonly #dataSource: DataSource;
  readonly #sentAhead: ByTheNewClock;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#sentAhead = new ByTheNewClock(dataSource, SENT_AHEAD);
  }

  async poolsInDoubt(): Promise<PoolInDoubt[]> {
    await this.#sentAhead.look();
    return await Looks.of(this.#dataSource).askRows(IN_DOUBT);
  }

  async provenPools(): Promise<string[]> {
    const rows = await Looks.of(this.#dataSource).askRows<{ pool: string }>(PROVEN);
    return rows.map(({ pool }) => pool);
  }

  async forgetOthers(pools: string[]): Promise<void> {
    await this.#dataSource.query(FORGET, [pools]);
  }

  async find(pool: string): Promise<TaskProof | undefined> {
    const [row] = await this.#dataSource.query<TaskProof[]>(FIND, [pool]);
    return row;
  }

  sessions(pool: string): Promise<TaskSession[]> {
    return this.#dataSource.query(SESSIONS, [pool]);
  }

  async begin({ pool, markerId, services, gone }: Parameters<TaskProofStore["begin"]>[0]): Promise<boolean> {
    return (await this.#dataSource.query<unknown[]>(BEGIN, [pool, markerId, services, gone])).length > 0;
  }

  async asked(markerId: string, services: string[]): Promise<void> {
    await this.#dataSource.query(ASKED, [markerId, services]);
  }

  async drop(markerId: string): Promise<void> {
    await this.#dataSource.query(DROP, [markerId]);
  }

  conclude({ pool, markerId }: TaskProof): ReturnType<TaskProofStore["conclude"]> {
    return this.#takeFromServices(CONCLUDE, [pool, markerId]);
  }

  endAbandoned(limit: number): ReturnType<TaskProofStore["endAbandoned"]> {
    return this.#takeFromServices(ABANDONED, [limit]);
  }

  /** What `sql` takes back is Ready; what was to be cancelled is over. */
  #takeFromServices(sql: string, parameters: unknown[]): Promise<{ ready: number; cancelled: TaskId[] }> {
    return this.#dataSource.transaction(async (tx) => {
      const taken = await tx.query<{ id: TaskId; cancelling: boolean }[]>(sql, parameters);
      const cancelled = taken.filter(({ cancelling }) => cancelling).map(({ id }) => id);
      if (cancelled.length > 0) await tx.query(CANCELLED, [cancelled]);
      return { ready: taken.length - cancelled.length, cancelled };
    });
  }
}
