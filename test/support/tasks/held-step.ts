import pg from "pg";
import { expect, onTestFinished } from "vitest";
import { eventually } from "../eventually.ts";

/** Any number that nobody else locks by. */
const LOCK = 4_711;

const WAITING = `
  SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`;

/** Where a statement is to stop, before its commit. */
export interface Where {
  /** `tasks`, if it is not said. */
  table?: string;
  before: "INSERT" | "UPDATE" | "DELETE";
  /** SQL about OLD and NEW, or about tables where it stops before the first row. */
  when: string;
  isOfStatement?: boolean;
}

/** A transaction of a manager that stands still in the middle, until it is cut off. */
export class HeldStep {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async at(databaseUrl: string, { table = "tasks", before, when, isOfStatement = false }: Where): Promise<HeldStep> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`SELECT pg_advisory_lock(${LOCK})`);
    await client.query(
      `CREATE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF ${when} THEN PERFORM pg_advisory_xact_lock_shared(${LOCK}); END IF;
         IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
         RETURN NEW;
       END $$`,
    );
    await client.query(
      `CREATE TRIGGER stand_still BEFORE ${before} ON ${table} FOR EACH ${isOfStatement ? "STATEMENT" : "ROW"}
       EXECUTE FUNCTION stand_still()`,
    );
    return new HeldStep(client);
  }

  /** Somebody stands there. */
  async untilReached(): Promise<void> {
    await eventually(async () => expect((await this.#client.query(WAITING)).rows).not.toEqual([]), {
      what: "the held step",
    });
  }

  /** They go on, and nobody stops there any more. */
  async letGo(): Promise<void> {
    await this.#client.query(`SELECT pg_advisory_unlock(${LOCK})`);
    await this.#client.query("DROP FUNCTION stand_still CASCADE");
  }

  /** PostgreSQL ends the transactions that stand there, as when it hears that their client is gone; then nobody stops there. */
  async cutOff(): Promise<void> {
    const { rows } = await this.#client.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid) AS ended FROM (${WAITING}) w`,
    );
    expect(rows).toEqual([{ ended: true }]);
    await eventually(async () => expect((await this.#client.query(WAITING)).rows).toEqual([]));
    await this.#client.query("DROP FUNCTION stand_still CASCADE");
  }
}
