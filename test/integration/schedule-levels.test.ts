import { PutSchedule } from "@unacked/contracts";
import { afterEach, expect, it } from "vitest";
import { PostgresLevelStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-level-store.ts";
import { PostgresScheduleStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/postgres-task-store.ts";
import { LevelKeeper } from "../../services/observer-manager/src/operations/schedules/level-keeper.ts";
import { ScheduleDesk } from "../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, SOMEBODY, useBooks } from "../support/servers/books.ts";

const books = useBooks("schedules, audit");
const nothing = () => undefined;
let keeper: LevelKeeper | undefined;
afterEach(() => keeper?.stop());

const desk = () =>
  new ScheduleDesk({
    store: new PostgresScheduleStore(books.dataSource),
    types: new PostgresTaskStore(books.dataSource),
    wake: nothing,
    wakeTasks: nothing,
    cancelled: nothing,
  });
const put = (id: string) =>
  desk().putSchedule(
    id,
    PutSchedule.parse({ hours: [{ from: "08:00", to: "20:00" }], observers: { names: ["nobody"] } }),
    SOMEBODY,
  );
const damage = (id: string, path: string, value: unknown) =>
  books.dataSource.query("UPDATE schedules SET definition = jsonb_set(definition, $2, $3) WHERE id = $1", [
    id,
    path,
    JSON.stringify(value),
  ]);

it("Schedules of observers that cannot be looked at say so, and are not in the way of the others", async () => {
  await put("odd-zone");
  await put("odd-ids");
  await put("good");
  await damage("odd-zone", "{hours,timeZone}", "Gone/Zone");
  await damage("odd-ids", "{observers}", { ids: ["no uuid"], wanted: "running" });
  keeper = new LevelKeeper({
    store: new PostgresLevelStore(books.dataSource),
    mayWant: () => true,
    committed: nothing,
    tally: { decided: nothing },
    log: keptLog(),
  });
  keeper.start();
  await eventually(async () => expect((await desk().findSchedule("good"))?.wantedNow).not.toBeNull());
  const problems = [await desk().findSchedule("odd-zone"), await desk().findSchedule("odd-ids")].map((one) => one?.problem);
  expect(problems).toEqual([expect.stringContaining("Gone/Zone"), expect.stringContaining("22P02")]);
});
