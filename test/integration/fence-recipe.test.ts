import { readFileSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { untilWait } from "../support/servers/lock-waits.ts";
import { freshDatabase } from "../support/servers/servers.ts";

const PAGE = readFileSync("docs/write-an-observer.md", "utf8");
const statement = (name: string): string => {
  const found = new RegExp(`<!-- ${name} -->\n\`\`\`sql\n([^\`]*)\`\`\``).exec(PAGE);
  if (found?.[1] === undefined) throw new Error(`docs/write-an-observer.md has no ${name}`);
  return found[1];
};
const OBSERVER = "01932f5b-1d22-7b63-9a1f-6c8dab2e3f01";

/** The statements of docs/write-an-observer.md, as they stand there. */
describe("the recipe of a fence", () => {
  let databaseUrl: string;
  const clients: pg.Client[] = [];
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(databaseUrl);
    clients.push(client);
    await client.connect();
    return client;
  };

  beforeAll(async () => {
    ({ databaseUrl } = await freshDatabase());
    const client = await connect();
    await client.query(statement("fence-table"));
    await client.query("CREATE TABLE written (fencing_token bigint, n integer)");
  });
  afterAll(() => Promise.all(clients.map((client) => client.end())));

  /** Writes under the fence. @returns whether it was let */
  async function write(
    client: pg.Client,
    fencingToken: number,
    n: number,
    meanwhile?: () => Promise<void>,
  ): Promise<boolean> {
    await client.query("BEGIN");
    const { rows } = await client.query(statement("fence-take"), [fencingToken, OBSERVER]);
    if (rows.length === 0) {
      await client.query("ROLLBACK");
      return false;
    }
    await client.query("INSERT INTO written VALUES ($1, $2)", [fencingToken, n]);
    await meanwhile?.();
    await client.query("COMMIT");
    return true;
  }

  it("lets a run write again and again, its successor from its first statement on, and the run before no more", async () => {
    const [older, newer] = [await connect(), await connect()];
    const fencingToken = Date.now();
    expect(await write(older, fencingToken, 1)).toBe(true);
    expect(await write(older, fencingToken, 2)).toBe(true);
    expect(await write(newer, fencingToken + 1_000, 3)).toBe(true);
    expect(await write(older, fencingToken, 4)).toBe(false);
    expect(await write(newer, fencingToken + 1_000, 5)).toBe(true);
  });

  it("overtakes nobody in the middle of a transaction: the newer one waits for its end", async () => {
    const [older, newer] = [await connect(), await connect()];
    const fencingToken = Date.now() + 10_000;
    const order: string[] = [];
    let overtaking: Promise<unknown> = Promise.resolve();
    await write(older, fencingToken, 6, async () => {
      overtaking = write(newer, fencingToken + 1_000, 7).then(() => order.push("newer"));
      overtaking.catch(() => undefined); // awaited below
      // It stands before the fence.
      const watcher = await connect();
      await untilWait({ query: async (sql) => (await watcher.query(sql)).rows });
      order.push("older");
    });
    await overtaking;
    expect(order).toEqual(["older", "newer"]);
    const { rows } = await newer.query("SELECT fencing_token FROM written ORDER BY n");
    const tokens = rows.map((row) => Number(row.fencing_token));
    expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
  });
});
