import type { DataSource, EntityManager } from "typeorm";
import type { TaskDays } from "../../../../operations/tasks/upkeep/task-retention.ts";

const MS_PER_DAY = 86_400_000;
const DAYS_AHEAD = 7;
const NAME = /^ended_tasks_(\d{4})_(\d{2})_(\d{2})$/;

/** The clock of PostgreSQL, which the rows' ends are written by. */
const NOW = "SELECT unacked_now() AS now";

/** `isLeaving`: a detach that was begun, and whose end did not come in time. */
const PARTITIONS = `
  SELECT c.relname AS name, i.inhdetachpending AS "isLeaving" FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'ended_tasks'::regclass`;

/** Days that somebody has detached, and then died, or had no answer: nobody finds a row of them any more, and they are to be dropped all the same. */
const DETACHED = `
  SELECT relname AS name, false AS "isLeaving" FROM pg_class
  WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'ended_tasks'::regclass) AND relkind = 'r' AND NOT relispartition`;

/** Any number, the same for all managers. */
const LOCK = "SELECT pg_advisory_xact_lock(7028)";

interface Partition {
  name: string;
  isLeaving: boolean;
}

/**
 * The partitions of `ended_tasks`, one a day (UTC) by the time of the end. Nothing here asks for a lock that ends of tasks, or somebody
 * who reads for long (a backup), stand in the way of: who waits for such a lock holds up all who come after him.
 */
export class PostgresTaskDays implements TaskDays {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async makeAhead(): Promise<void> {
    if ((await this.#missing(this.#dataSource)).length === 0) return;
    await this.#dataSource.transaction(async (tx) => {
      await tx.query(LOCK); // the second of two managers finds them
      for (const fromMs of await this.#missing(tx)) await make(tx, fromMs);
    });
  }

  async dropOlderThan(ageMs: number): Promise<string[]> {
    const nowMs = await nowMsOf(this.#dataSource);
    const isOld = ({ name }: Partition): boolean => dayOf(name) + MS_PER_DAY <= nowMs - ageMs;
    const detached = (await daysOf(this.#dataSource, DETACHED)).filter(isOld);
    for (const { name } of detached) await this.#drop(name);
    const old = (await daysOf(this.#dataSource, PARTITIONS)).filter(isOld).toSorted(leavingFirst);
    for (const { name, isLeaving } of old) {
      // Names are our own: made of digits. The detach waits for readers, maybe in vain: no row is found from its begin on.
      await this.#dataSource.query(
        `ALTER TABLE ended_tasks DETACH PARTITION ${name} ${isLeaving ? "FINALIZE" : "CONCURRENTLY"}`,
      );
      await this.#drop(name);
    }
    return [...detached, ...old].map(({ name }) => name);
  }

  /** Another manager may be faster. */
  async #drop(name: string): Promise<void> {
    await this.#dataSource.query(`DROP TABLE IF EXISTS ${name}`);
  }

  /** The begins of the days that have no partition. */
  async #missing(db: DataSource | EntityManager): Promise<number[]> {
    const there = new Set((await daysOf(db, PARTITIONS)).map(({ name }) => name));
    const todayMs = Math.floor((await nowMsOf(db)) / MS_PER_DAY) * MS_PER_DAY;
    const days = Array.from({ length: DAYS_AHEAD + 2 }, (_, i) => todayMs + (i - 1) * MS_PER_DAY);
    return days.filter((fromMs) => !there.has(nameOf(fromMs)));
  }
}

/** Makes a table and then attaches it: CREATE … PARTITION OF would wait for all who read `ended_tasks`. */
async function make(tx: EntityManager, fromMs: number): Promise<void> {
  const [name, from, to] = [nameOf(fromMs), ...[fromMs, fromMs + MS_PER_DAY].map((ms) => new Date(ms).toISOString())];
  await tx.query(`CREATE TABLE ${name} (LIKE ended_tasks INCLUDING ALL)`);
  await tx.query(`ALTER TABLE ended_tasks ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
}

async function daysOf(db: DataSource | EntityManager, which: string): Promise<Partition[]> {
  return (await db.query<Partition[]>(which)).filter(({ name }) => NAME.test(name));
}

async function nowMsOf(db: DataSource | EntityManager): Promise<number> {
  const [row] = await db.query<{ now: Date }[]>(NOW);
  return row?.now.getTime() ?? Date.now();
}

/** While one partition leaves, no other can begin to. */
const leavingFirst = (a: Partition, b: Partition): number =>
  Number(b.isLeaving) - Number(a.isLeaving) || (a.name < b.name ? -1 : 1);

const nameOf = (ms: number): string => `ended_tasks_${new Date(ms).toISOString().slice(0, 10).replaceAll("-", "_")}`;

function dayOf(name: string): number {
  const [, year, month, day] = NAME.exec(name) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
}
