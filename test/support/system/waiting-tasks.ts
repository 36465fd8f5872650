import type { Queryable } from "../servers/books.ts";

const PUT = `
  INSERT INTO tasks (id, type, params, pool, priority, due_at, status)
  SELECT gen_random_uuid(), $1, '{}', $2, $3, now() + n * interval '1 microsecond', 'Ready'
  FROM generate_series(1, $4::int) AS n`;

/** A statement may last for ten seconds. */
const AT_ONCE = 20_000;

/** Tasks that are Ready, straight into the books. The first of them are due first. */
export async function putReady(
  books: Queryable,
  count: number,
  { type = "work", pool = "default", priority = 0 }: { type?: string; pool?: string; priority?: number } = {},
): Promise<void> {
  for (let left = count; left > 0; left -= AT_ONCE) await books.query(PUT, [type, pool, priority, Math.min(AT_ONCE, left)]);
}

const SERVICE = `
  INSERT INTO task_services (id, generation, name, pool, workers, draining, types, means)
  VALUES (gen_random_uuid(), 1, 'a-service', $1, $2, false, $3, $4)`;

interface TaskService {
  pool?: string;
  workers?: number;
  types?: string[];
  /** How long they take, if it is known. */
  meanMs?: number;
  /** How many one call takes. */
  batch?: number;
}

/** A service with task workers, that is heard of for 20 s. */
export async function putTaskService(
  books: Queryable,
  { pool = "default", workers = 10, types = ["work"], meanMs, batch }: TaskService = {},
): Promise<void> {
  const infos = types.map((type) => ({ type, description: "", paramsSchema: {}, batch }));
  const means = meanMs === undefined ? {} : Object.fromEntries(types.map((type) => [type, meanMs]));
  await books.query(SERVICE, [pool, workers, JSON.stringify(infos), JSON.stringify(means)]);
}
