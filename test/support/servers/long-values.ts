import { expect } from "vitest";
import type { TestBooks } from "./books.ts";

/** Where the one long value of a table lies: in pieces beside it, and in new ones as soon as it is written, though it be the same. */
export async function whereItLies({ dataSource }: Pick<TestBooks, "dataSource">, table: string): Promise<unknown[]> {
  const [row] = await dataSource.query<{ name: string }[]>(
    "SELECT reltoastrelid::regclass::text AS name FROM pg_class WHERE oid = $1::regclass",
    [table],
  );
  const pieces = await dataSource.query<unknown[]>(`SELECT DISTINCT chunk_id FROM ${row?.name ?? ""}`);
  expect(pieces).toHaveLength(1);
  return pieces;
}
