import { PutSchedule } from "@unacked/contracts";
import { afterEach, expect, it } from "vitest";
import { PostgresLevelStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-level-store.ts";
import { PostgresScheduleStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { LevelSetter } from "../../services/observer-manager/src/operations/schedules/level-setter.ts";
import { ScheduleDesk } from "../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, putObserver, putRunning, SOMEBODY, shiftClock, useBooks } from "../support/servers/books.ts";
import { untilWait } from "../support/servers/lock-waits.ts";

const books = useBooks("schedules, observers, audit");
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

function keep(committed: () => void = nothing): void {
  setter = new LevelSetter({
    store: new PostgresLevelStore(books.dataSource),
    mayWant: () => true,
    committed,
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

const always = [{ from: "00:00", to: "24:00" }];

it.each([
  ["alone", 0],
  ["beside one that ran", 1],
])("What is paused already is not told as changed, %s", async (_, running) => {
  const names = ["was-paused", "ran"];
  await putObserver(books.dataSource, { name: "was-paused", status: "Paused" });
  for (let i = 0; i < running; i++) await putRunning(books.dataSource, { name: "ran" });
  const observers = { names, wanted: "paused" };
  await desk().putSchedule("hours", PutSchedule.parse({ hours: always, observers }), SOMEBODY);
  let committed = 0;
  keep(() => void committed++);
  const brought = "SELECT FROM schedule_observers";
  await eventually(async () => expect(await books.dataSource.query(brought)).toHaveLength(1 + running));
  await setter?.stop();
  expect(await books.dataSource.query("SELECT changed FROM occurrences")).toEqual([{ changed: running }]);
  expect(committed).toBe(running);
});

it("What matches no more once it is locked is left as it is, and asked when it matches again", async () => {
  const id = await putRunning(books.dataSource, { labels: { team: "web" } });
  const observers = { filter: { labels: { team: "web" } }, wanted: "paused" };
  await desk().putSchedule("hours", PutSchedule.parse({ hours: always, observers }), SOMEBODY);
  const relabel = "UPDATE observers SET labels = $2 WHERE id = $1";
  const other = books.dataSource.createQueryRunner();
  await other.startTransaction();
  try {
    await other.query(relabel, [id, { team: "other" }]);
    keep();
    await untilWait(books.dataSource, 1);
    await other.commitTransaction();
  } finally {
    if (other.isTransactionActive) await other.rollbackTransaction();
    await other.release();
  }
  await setter?.stop();
  const pending = async () => books.dataSource.query("SELECT pending FROM observers");
  expect(await pending()).toEqual([{ pending: null }]);

  await books.dataSource.query(relabel, [id, { team: "web" }]);
  await shift(0.01); // beyond the next look
  await eventually(async () => expect(await pending()).toEqual([{ pending: "pause" }]));
});
