import type { ObserverId } from "@unacked/contracts";
import { expect, it } from "vitest";
import { PostgresScheduledStartStore } from "../../services/observer-manager/src/adapters/postgres/observers/scheduled-start-store.ts";
import { putObserver, shiftClock, useBooks } from "../support/servers/books.ts";

const books = useBooks("observers");

it("Where PostgreSQL's clock was set back what found no worker is tried again soon, and what starts later no sooner", async () => {
  const startsIn = async (ms: number) => {
    const at = new Date(Date.now() + ms);
    return (await putObserver(books.dataSource, { status: "Scheduled", start_at: at, start_next_at: at })) as ObserverId;
  };
  const one = await startsIn(-1_000);
  const later = await startsIn(3 * 3_600_000);
  await shiftClock(books, 6 * 3_600);
  const store = new PostgresScheduledStartStore(books.dataSource);
  expect((await store.due(10)).map(({ id }) => id)).toEqual([one, later]);
  await store.putOff([one, later]);
  await shiftClock(books, 0);
  expect(await store.nextDueInMs()).toBeLessThanOrEqual(0);
  expect((await store.due(10)).map(({ id }) => id)).toEqual([one]);
});
