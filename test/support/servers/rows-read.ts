import { vi } from "vitest";
import type { TestBooks } from "./books.ts";

/* What a look at the books costs, counted: for tests that many rows cost no more than few. */

export interface Statement {
  sql: string;
  parameters: unknown[];
}

/** What is asked of the books for that. */
export async function statementsOf(
  { dataSource }: Pick<TestBooks, "dataSource">,
  act: () => Promise<void>,
): Promise<Statement[]> {
  const asked: Statement[] = [];
  const make = dataSource.createQueryRunner.bind(dataSource);
  const spy = vi.spyOn(dataSource, "createQueryRunner").mockImplementation((mode) => {
    const runner = make(mode);
    const query = runner.query.bind(runner) as (sql: string, parameters?: unknown[], ...more: never[]) => Promise<never>;
    runner.query = (sql: string, parameters?: unknown[], ...more: never[]) => {
      asked.push({ sql, parameters: parameters ?? [] });
      return query(sql, parameters, ...more);
    };
    return runner;
  });
  try {
    await act();
  } finally {
    spy.mockRestore();
  }
  return asked;
}

interface Plan {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** Of the tables themselves: what a statement's leaves were read for, also what was thrown away. */
export async function rowsReadBy(
  { dataSource }: Pick<TestBooks, "dataSource">,
  { sql, parameters }: Statement,
): Promise<number> {
  const [row] = await dataSource.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, parameters);
  const readBy = (plan: Plan): number =>
    plan.Plans === undefined
      ? (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"]
      : plan.Plans.reduce((sum, part) => sum + readBy(part), 0);
  return readBy(row["QUERY PLAN"][0].Plan);
}
