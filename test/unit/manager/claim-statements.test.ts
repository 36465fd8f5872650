import { expect, test } from "vitest";
import {
  CLAIM,
  CLAIM_CALLS_FROM,
} from "../../../services/observer-manager/src/adapters/postgres/tasks/claims/task-claim.ts";
import { TAKE } from "../../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take.ts";

/** They are put together of parts: here the least of them, that with all, and a taker's are read as they run, and a change of a part shows what it changes. `npx vitest -u` writes them. */
test.each([
  ["claim", CLAIM],
  ["claim-calls-from", CLAIM_CALLS_FROM],
  ["take", TAKE],
])("%s.sql is the statement that runs", async (name, sql) => {
  await expect(`${sql.trim()}\n`).toMatchFileSnapshot(`../../fixtures/statements/${name}.sql`);
});
