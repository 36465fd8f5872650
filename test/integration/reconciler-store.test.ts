import { expect, test } from "vitest";
import { PostgresReconcilerStore } from "../../services/observer-manager/src/adapters/postgres/observers/reconciler-store.ts";
import { putService, useBooks } from "../support/servers/books.ts";

const books = useBooks("services");

test("a service that drains, is cordoned or says that it takes nothing for now has no consumer to be counted", async () => {
  const put = (columns: Record<string, unknown>) => putService(books.dataSource, columns);
  const consuming = [await put({}), await put({ drain: "asked" }), await put({ drain: "cordon-asked" })];
  for (const columns of [{ drain: "begun" }, { drain: "cordoned" }, { not_consuming: "its memory is 91 % full" }])
    await put(columns);
  const { services } = await new PostgresReconcilerStore(books.dataSource).sight("default", 3_000);
  expect(services).toHaveLength(6);
  expect(services.filter(({ consumes }) => consumes).map(({ id }) => id)).toEqual(consuming.toSorted());
});
