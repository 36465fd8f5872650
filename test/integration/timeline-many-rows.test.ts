import { beforeAll, expect, test } from "vitest";
import { readTimeline } from "../../services/observer-manager/src/adapters/postgres/observers/timeline-reads.ts";
import { putObserver, useBooks } from "../support/servers/books.ts";
import { rowsReadBy, statementsOf } from "../support/servers/rows-read.ts";

/* An observer that is restarted each five minutes has thousands of runs within the retention, and as many restarts. */

const RUNS = 2_400;
const books = useBooks();
let id: string;

/** The newest was changed as it ran, the one before that ended with its service, the one before that was restarted; and so on. */
const PUT_RUNS = `
  INSERT INTO runs (id, observer_id, service_id, generation, message_id, revision, epoch, state, started_at, ended_at, end_reason, story)
  SELECT gen_random_uuid(), $1, gen_random_uuid(), 1, gen_random_uuid(), 1, $2::int - n, 'Ended', at - interval '4 min', at,
         CASE n % 3 WHEN 1 THEN 'draining' ELSE 'restarted' END,
         CASE n % 3 WHEN 0 THEN jsonb_build_array(jsonb_build_object('kind', 'updated', 'atMs', extract(epoch FROM at) * 1000 - 1000, 'text', 'begins again with version ' || n))
         ELSE '[]' END
  FROM generate_series(0, $2::int - 1) n, LATERAL (SELECT now() - interval '1 min' - n * interval '5 min' AS at) a`;
const PUT_AUDIT = `
  INSERT INTO audit (id, at, actor, role, authentication, address, request_id, deed, count, targets, details)
  SELECT gen_random_uuid(), at, 'bot-' || n, 'operator', 'token', '127.0.0.1', n::text,
         CASE n % 3 WHEN 0 THEN 'observer.change' WHEN 1 THEN 'service.drain' ELSE 'observer.restart' END, 1,
         jsonb_build_array(CASE n % 3 WHEN 1 THEN jsonb_build_object('kind', 'service', 'id', service_id)
         ELSE jsonb_build_object('kind', 'observer', 'id', observer_id) END), jsonb_build_object('specVersion', n)
  FROM (SELECT $2::int - epoch AS n, ended_at - interval '2 s' AS at, observer_id, service_id FROM runs WHERE observer_id = $1) r`;

beforeAll(async () => {
  id = await putObserver(books.dataSource);
  await books.dataSource.query(PUT_RUNS, [id, RUNS]);
  await books.dataSource.query(PUT_AUDIT, [id, RUNS]);
  await books.dataSource.query("VACUUM ANALYZE runs, audit");
});

test("Who made each run of a page end is told, and what a page costs grows no faster than what its observer has lived through", async () => {
  const read = () => readTimeline(books.dataSource, { kind: "id", id: id as never }, { limit: 100 });
  const ends = (await read())?.items.filter(({ kind }) => kind === "ended") ?? [];
  expect(ends.length).toBeGreaterThan(20);
  expect(ends.map(({ by }) => by)).toEqual(ends.map((_, n) => `bot-${n}`));
  const [, entries] = await statementsOf(books, async () => void (await read()));
  expect(await rowsReadBy(books, entries ?? expect.fail("nothing was asked"))).toBeLessThan(20 * RUNS);
});
