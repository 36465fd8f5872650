import type { DataSource } from "typeorm";
import type { TaskDays } from "../../../operations/tasks/task-retention.ts";

const MS_PER_DAY = 86_400_000;
const DAYS_AHEAD = 7;
const NAME = /^ended_tasks_(\d{4})_(\d{2})_(\d{2})$/;

/** The clock of PostgreSQL, which the rows' ends are written by. */
const NOW = "SELECT now() AS now";

const PARTITIONS = `
  SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'ended_tasks'::regclass AND NOT i.inhdetachpending`;

/** The partitions of `ended_tasks`, one a day (UTC) by the time of the end. */
export class PostgresTaskDays implements TaskDays {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async makeAhead(): Promise<void> {
    const there = new Set(await this.#names());
    const todayMs = Math.floor((await this.#nowMs()) / MS_PER_DAY) * MS_PER_DAY;
    for (let day = -1; day <= DAYS_AHEAD; day += 1) {
      const fromMs = todayMs + day * MS_PER_DAY;
      if (!there.has(nameOf(fromMs))) await this.#make(fromMs);
    }
  }

  async dropOlderThan(ageMs: number): Promise<string[]> {
    const nowMs = await this.#nowMs();
    const old = (await this.#names()).filter((name) => dayOf(name) + MS_PER_DAY <= nowMs - ageMs);
    for (const name of old) {
      // Names are our own: made of digits.
      await this.#dataSource.query(`ALTER TABLE ended_tasks DETACH PARTITION ${name} CONCURRENTLY`);
      await this.#dataSource.query(`DROP TABLE IF EXISTS ${name}`);
    }
    return old;
  }

  async #make(fromMs: number): Promise<void> {
    const [from, to] = [fromMs, fromMs + MS_PER_DAY].map((ms) => new Date(ms).toISOString());
    // Two managers may make it at once: the second finds it.
    await this.#dataSource.query(
      `CREATE TABLE IF NOT EXISTS ${nameOf(fromMs)} PARTITION OF ended_tasks FOR VALUES FROM ('${from}') TO ('${to}')`,
    );
  }

  async #names(): Promise<string[]> {
    const rows = await this.#dataSource.query<{ name: string }[]>(PARTITIONS);
    return rows.map(({ name }) => name).filter((name) => NAME.test(name));
  }

  async #nowMs(): Promise<number> {
    const [row] = await this.#dataSource.query<{ now: Date }[]>(NOW);
    return row?.now.getTime() ?? Date.now();
  }
}

const nameOf = (ms: number): string => `ended_tasks_${new Date(ms).toISOString().slice(0, 10).replaceAll("-", "_")}`;

function dayOf(name: string): number {
  const [, year, month, day] = NAME.exec(name) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
}
