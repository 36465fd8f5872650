import { newUuid } from "@unacked/contracts";
import { expect, onTestFinished, test } from "vitest";
import { PostgresTimerFiringStore } from "../../services/observer-manager/src/adapters/postgres/timers/timer-firing-store.ts";
import { TimerFirer, type TimerSender } from "../../services/observer-manager/src/operations/timers/timer-firer.ts";
import type { DueTimer, FiringOutcome } from "../../services/observer-manager/src/operations/timers/timer-store.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, useBooks } from "../support/servers/books.ts";

/* Three thousand timers with 64 KiB each, which the broker did not confirm, were 190 MB of a manager's memory. */

const books = useBooks("timers, ended_timers, timer_claims, timer_owners");
const CHARS = 60_000;

/** So many at once are put well before a statement's time limit. */
const AT_ONCE = 50;

/** Of hexadecimal digits, which no compression makes much shorter. */
async function putDue(count: number): Promise<void> {
  for (let from = 1; from <= count; from += AT_ONCE)
    await books.dataSource.query(
      `INSERT INTO timers (id, name, payload, due_at, next_at, expires_at, default_expiry, status)
       SELECT gen_random_uuid(), 'n', to_jsonb((SELECT string_agg(md5(n || '-' || i), '') FROM generate_series(1, ${CHARS / 32}) i)),
              now() - interval '1 s', now() - interval '1 s', now() + interval '1 hour', false, 'Waiting'
       FROM generate_series($1::int, least($1::int + ${AT_ONCE} - 1, $2::int)) n`,
      [from, count],
    );
}

test("Of timers with long payloads a claim has 16 MiB, and says that there are more", async () => {
  await putDue(600);
  const store = new PostgresTimerFiringStore(books.dataSource);
  const sets: [number, boolean][] = [];
  for (let isCut = true; isCut; ) {
    const set = await store.claim({ owner: newUuid(), claimId: newUuid() }, 1_000);
    ({ isCut } = set);
    sets.push([set.due.length, isCut]);
  }
  expect(sets.map(([, isCut]) => isCut)).toEqual([true, true, false]);
  expect(Math.max(...sets.map(([count]) => count))).toBeLessThan(300);
  expect(sets.reduce((sum, [count]) => sum + count, 0)).toBe(600);
});

test("Timers with long payloads whose confirms do not come are in flight up to 48 MiB, and all are fired when they do", async () => {
  const COUNT = 1_200; // 72 MB
  await putDue(COUNT);
  const sent: DueTimer[] = [];
  const confirms: (() => void)[] = [];
  let isConfirming = false;
  let rounds = 0;
  const sender: TimerSender = {
    ready: async () => void (rounds += 1),
    send: (timer) =>
      new Promise<FiringOutcome>((resolve) => {
        sent.push(timer);
        if (isConfirming) resolve("fired");
        else confirms.push(() => resolve("fired"));
      }),
  };
  const store = new PostgresTimerFiringStore(books.dataSource);
  const tally = { expired() {}, tried() {}, takenOver() {} };
  const firer = new TimerFirer({ owner: newUuid(), tries: "first", store, sender, tally, log: keptLog() } as never);
  onTestFinished(() => firer.stop());
  firer.start();
  await eventually(() => expect(sent.length * CHARS).toBeGreaterThan(32 * 1_048_576));
  // It looks again whether there is room, each second.
  const before = rounds;
  await eventually(() => expect(rounds).toBeGreaterThan(before + 2));
  expect(sent.length * CHARS).toBeLessThan(50 * 1_048_576);
  isConfirming = true;
  for (const confirm of confirms) confirm();
  await eventually(() => expect(sent).toHaveLength(COUNT));
  await eventually(async () => {
    const [row] = await books.dataSource.query("SELECT count(*)::int AS fired FROM ended_timers WHERE status = 'Fired'");
    expect(row.fired).toBe(COUNT);
  });
});
