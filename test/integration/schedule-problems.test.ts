import { PutSchedule } from "@unacked/contracts";
import { afterEach, expect, it } from "vitest";
import { PostgresScheduleStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { PostgresScheduleFiringStore } from "../../services/observer-manager/src/adapters/postgres/schedules/schedule-firing-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { ScheduleDesk } from "../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { ScheduleFirer } from "../../services/observer-manager/src/operations/schedules/schedule-firer.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, SOMEBODY, useBooks } from "../support/servers/books.ts";

const books = useBooks("schedules, tasks, task_services, audit");
const nothing = () => undefined;
let firer: ScheduleFirer | undefined;
afterEach(() => firer?.stop());

it("A schedule that cannot be read is logged once, and not each minute", async () => {
  const store = new PostgresScheduleStore(books.dataSource);
  const types = new PostgresTaskStore(books.dataSource);
  const desk = new ScheduleDesk({ store, types, wake: nothing, wakeTasks: nothing, cancelled: nothing });
  await desk.putSchedule("moved", PutSchedule.parse({ cron: "0 9 * * *", task: { type: "t" } }), SOMEBODY);
  await books.dataSource.query(
    `UPDATE schedules SET definition = jsonb_set(definition, '{timing,rhythm,timeZone}', '"Gone/Zone"')`,
  );
  const makeDue = () => books.dataSource.query("UPDATE schedules SET due_at = now() - interval '1 second'");
  const untilDecided = () =>
    eventually(async () => {
      const [row] = await books.dataSource.query('SELECT problem, due_at > now() AS "isPutOff" FROM schedules');
      expect(row).toMatchObject({ problem: expect.stringContaining("Gone/Zone"), isPutOff: true });
    });
  const log = keptLog();
  const parts = { wakeTasks: nothing, cancelled: nothing, tally: { decided: nothing }, log };
  await makeDue();
  firer = new ScheduleFirer({ store: new PostgresScheduleFiringStore(books.dataSource), ...parts });
  firer.start();
  await untilDecided();
  await makeDue();
  await untilDecided();
  await firer.stop();
  expect(log.lines).toMatchObject([
    { level: "warn", fields: { schedule: "moved", problem: expect.stringContaining("Gone/Zone") } },
  ]);
});
