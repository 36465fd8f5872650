import pg from "pg";

export async function queryRows<T>(databaseUrl: string, query: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(query, values)).rows as T[];
  } finally {
    await client.end();
  }
}

export async function runStatement(databaseUrl: string, statement: string): Promise<void> {
  await queryRows(databaseUrl, statement);
}
