import { PutSchedule } from "@unacked/contracts";
import { afterEach, expect, it } from "vitest";
import { PostgresLevelStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-level-store.ts";
import { PostgresScheduleStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { LevelSetter } from "../../services/observer-manager/src/operations/schedules/level-setter.ts";
import { ScheduleDesk } from "../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, SOMEBODY, shiftClock, useBooks } from "../support/servers/books.ts";

const books = useBooks("schedules, audit");
const nothing = () => undefined;
let setter: LevelSetter | undefined;
afterEach(async () => {
  await setter?.stop();
  await shiftClock(books, 0);
});

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

function keep(): void {
  setter = new LevelSetter({
    store: new PostgresLevelStore(books.dataSource),
    mayWant: () => true,
    committed: nothing,
    tally: { decided: nothing },
    log: keptLog(),
  });
  setter.start();
}

/** In hours. Nobody looks meanwhile. */
async function shift(hours: number): Promise<void> {
  await setter?.stop();
  await shiftClock(books, hours * 3_600);
  keep();
}

it("Schedules of observers that cannot be looked at say so, and are not in the way of the others", async () => {
  await put("odd-zone");
  await put("odd-ids");
  await put("good");
  await damage("odd-zone", "{hours,timeZone}", "Gone/Zone");
  await damage("odd-ids", "{observers}", { ids: ["no uuid"], wanted: "running" });
  keep();
  await eventually(async () => expect((await desk().findSchedule("good"))?.wantedNow).not.toBeNull());
  const problems = [await desk().findSchedule("odd-zone"), await desk().findSchedule("odd-ids")].map((one) => one?.problem);
  expect(problems).toEqual([expect.stringContaining("Gone/Zone"), expect.stringContaining("22P02")]);
});

it("A clock that was ahead over a change and is set back leaves them as the clock says now", async () => {
  const clock = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  const hours = [{ from: clock(-2), to: clock(2) }];
  await desk().putSchedule("hours", PutSchedule.parse({ hours, observers: { names: ["nobody"] } }), SOMEBODY);
  keep();
  const untilWanted = async (wantedNow: string): Promise<void> =>
    eventually(async () => expect(await desk().findSchedule("hours")).toMatchObject({ wantedNow }), { timeoutMs: 10_000 });
  await untilWanted("running");
  const before = await desk().findSchedule("hours");
  await shift(4);
  await untilWanted("paused");
  await shift(0);
  await untilWanted("running");
  expect((await desk().findSchedule("hours"))?.nextAt).toBe(before?.nextAt);
});
