import type { DataSource } from "typeorm";
import type { CommandCount } from "../../flows/command-count.ts";

/** One pass: the table holds what is not sent or not answered yet. */
const COUNTS = `
  SELECT kind, count(*)::int AS count,
         greatest(0, extract(epoch FROM now() - min(due_at)))::float8 AS "overdueS",
         greatest(0, extract(epoch FROM now() - min(created_at)))::float8 AS "oldestS"
  FROM commands GROUP BY kind`;

export const countCommands = (dataSource: DataSource): Promise<CommandCount[]> => dataSource.query<CommandCount[]>(COUNTS);
