import { type FlowId, newFlowId } from "@unacked/contracts";
import { beforeAll, expect, test } from "vitest";
import { PostgresFlowStore } from "../../services/observer-manager/src/adapters/postgres/flows/postgres-flow-store.ts";
import { useBooks } from "../support/servers/books.ts";
import { rowsReadBy, statementsOf } from "../support/servers/rows-read.ts";

/* Of a wide flow thousands may end before anybody follows them up; its page is read meanwhile each 2 s. */

const COUNT = 6_000;
const books = useBooks();
const flowId: FlowId = newFlowId();

const PUT = `
  INSERT INTO flow_tasks (flow_id, ref, place, task_id, type, params, pool, priority, on_failure, max_output_bytes, followers, waiting)
  SELECT $1, 't' || n, n, gen_random_uuid(), 'work', '{}', 'default', 0, 'fail', 100, 0, 0 FROM generate_series(1, $2::int) AS n`;
const END = `
  INSERT INTO flow_ends (flow_id, ref, task_id, status, output, ended_at)
  SELECT flow_id, ref, task_id, 'Completed', place, now() FROM flow_tasks ORDER BY random()`;

beforeAll(async () => {
  await books.dataSource.query("INSERT INTO flows (id, digest, total) VALUES ($1, '', $2)", [flowId, COUNT]);
  await books.dataSource.query(PUT, [flowId, COUNT]);
  await books.dataSource.query("ANALYZE flow_ends"); // as it is between two such bursts: empty
  await books.dataSource.query(END);
});

test("A page of its tasks reads each end twice at most, and shows each with its own", async () => {
  const store = new PostgresFlowStore(books.dataSource);
  const [asked] = await statementsOf(books, async () => {
    const page = await store.listTasks(flowId, { fromPlace: 1_000, limit: 1_000, withOutputs: true });
    expect(page?.items.map(({ status, output }) => [status, output])).toEqual(
      Array.from({ length: 1_000 }, (_, i) => ["Completed", 1_000 + i]),
    );
  }).then((all) => all.filter(({ sql }) => sql.includes("flow_ends")));
  expect(await rowsReadBy(books, asked ?? expect.fail("nothing was asked"))).toBeLessThanOrEqual(2 * COUNT + 5 * 1_001);
});
