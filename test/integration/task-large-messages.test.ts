import { SupervisedConnection } from "@unacked/broker";
import { EXCHANGES, newServiceId, TASK_STATE_KEY, TASK_STATE_QUEUE, taskStateQueue } from "@unacked/contracts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { TaskStateConsumer } from "../../services/observer-manager/src/adapters/amqp/tasks/task-state-consumer.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { brokerSettings } from "../support/broker/broker-client.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, useBooks } from "../support/servers/books.ts";
import { freshVhost } from "../support/servers/servers.ts";
import { taskLedgerOn } from "../support/tasks/task-ledger.ts";

const MESSAGES = 24;
/** Of 64 KiB each, as a result may have: a message has more than a MiB. */
const ENDS = 16;

const books = useBooks();
const query = <Row>(sql: string, parameters: unknown[] = []) => books.dataSource.query<Row[]>(sql, parameters);
beforeAll(() => new PostgresTaskDays(books.dataSource).makeAhead());

test("Ends with large results, which wait when a manager begins, are in the books by several transactions, of some MiB each", async () => {
  const running = await query<{ id: string; send: string; run: string }>(
    `WITH sent AS (
       INSERT INTO tasks (id, type, params, pool, priority, due_at, status, send_id, sent_at, run_id, sends)
       SELECT gen_random_uuid(), 'work', '{}', 'default', 0, now(), 'Running', gen_random_uuid(), now(), gen_random_uuid(), 1
       FROM generate_series(1, $1) RETURNING id, send_id AS send, run_id AS run)
     SELECT * FROM sent`,
    [MESSAGES * ENDS],
  );
  const { amqpUrl, management } = await freshVhost();
  const connection = new SupervisedConnection(brokerSettings(amqpUrl), {
    build: (session) => session.declare(taskStateQueue("classic")),
  });
  connection.start();
  onTestFinished(() => connection.close());
  const session = await connection.up();
  const service = { serviceId: newServiceId(), serviceName: "s", pool: "default", generation: 1 };
  const output = JSON.stringify(Array.from({ length: 6_500 }, () => "abcdefg"));
  for (let seq = 1; seq <= MESSAGES; seq += 1) {
    const events = running.slice((seq - 1) * ENDS, seq * ENDS).map(({ id, send, run }) => ({
      kind: "TaskEnded",
      ...{ taskId: id, sendId: send, runId: run, at: Date.now(), startedAt: Date.now() - 5, outcome: "completed", output },
    }));
    const body = JSON.stringify({ kind: "TaskEventBatch", ...service, seq, events });
    await management.publish({ exchange: EXCHANGES.events.name, routingKey: TASK_STATE_KEY, body });
  }
  const behind: string[] = [];
  const ledger = taskLedgerOn(books.dataSource, { behind: (pools) => behind.push(...pools) });
  const errors = { record: async (told: unknown[]) => expect(told).toEqual([]) };
  const days = { makeAhead: async () => undefined } as never;
  const log = keptLog();
  const consumer = new TaskStateConsumer({ ledger, errors, days, reporter: "a manager", log });
  await consumer.begin(session);
  await eventually(async () => expect(await management.queue(TASK_STATE_QUEUE)).toMatchObject({ ready: 0, unacked: 0 }), {
    timeoutMs: 60_000,
  });
  const written = await query<{ ends: number }>(
    "SELECT count(*)::int AS ends FROM ended_tasks WHERE status = 'Completed' GROUP BY xmin ORDER BY 1 DESC",
  );
  expect(written.reduce((sum, { ends }) => sum + ends, 0)).toBe(MESSAGES * ENDS);
  expect(written[0]?.ends).toBeLessThanOrEqual(8 * ENDS);
  expect(behind).toEqual([]);
  expect(log.lines).toEqual([]);
});
