import { randomUUID } from "node:crypto";
import { MANAGER_FEATURES } from "@unacked/contracts";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { PostgresFeatureStore } from "../../services/observer-manager/src/adapters/postgres/features/feature-store.ts";
import { FeatureGate } from "../../services/observer-manager/src/operations/features/feature-gate.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, useBooks } from "../support/servers/books.ts";

const books = useBooks();
const query = (sql: string, parameters: unknown[] = []) => books.dataSource.query(sql, parameters);
const noted = async (): Promise<string[]> =>
  (await query("SELECT feature FROM known_features")).map(({ feature }: { feature: string }) => feature);

describe("a manager that starts", () => {
  beforeEach(() => query("DELETE FROM managers"));

  /** @param consumers of the state queue, as its broker counts them */
  async function start(consumers: number | null) {
    const seen = { consumers, failures: 0 };
    const [store, looks] = [new PostgresFeatureStore(books.dataSource), { count: 0 }];
    const known = store.known.bind(store);
    store.known = () => {
      looks.count += 1;
      if (seen.failures === 0) return known();
      seen.failures -= 1;
      return Promise.reject(new Error("the database was away for a moment"));
    };
    const parts = { store, stateConsumers: () => seen.consumers, managerId: randomUUID(), version: "now", log: keptLog() };
    const gate = new FeatureGate(parts);
    gate.start();
    onTestFinished(() => gate.stop());
    const untilLooks = async (more: number) => {
      const wanted = looks.count + more;
      await eventually(() => expect(looks.count).toBeGreaterThanOrEqual(wanted), { timeoutMs: 20_000 });
    };
    return { gate, seen, untilLooks };
  }
  const goesOn = (gate: FeatureGate) => gate.mayGoOnWith("admission");

  it("with books that begin with it goes on with all that it knows, at its first look at who reads the state queue", async () => {
    await new PostgresFeatureStore(books.dataSource).noteKnown(MANAGER_FEATURES); // as database-side.ts does (admitted.test.ts)
    const { gate, seen, untilLooks } = await start(null);
    await untilLooks(3);
    expect(goesOn(gate)).toBe(false);
    seen.consumers = 1;
    await eventually(() => expect(goesOn(gate)).toBe(true), { timeoutMs: 5_000 });
    expect(gate.readersKnow("admission")).toBe(false); // not watched for long enough to say so by itself
  });

  it("does not where somebody reads it who has no word; nor do those that start after that", async () => {
    const { gate, untilLooks } = await start(2);
    await untilLooks(2);
    expect([goesOn(gate), await noted()]).toEqual([false, []]);
    await gate.stop();
    const next = await start(1);
    await next.untilLooks(2);
    expect(goesOn(next.gate)).toBe(false);
    // It watches for a while, as ever, and writes down what it has seen.
    await eventually(async () => expect((await noted()).length).toBe(MANAGER_FEATURES.length), { timeoutMs: 40_000 });
    expect(goesOn(next.gate)).toBe(true);
    await next.gate.stop();
    const third = await start(1);
    await eventually(() => expect(goesOn(third.gate)).toBe(true), { timeoutMs: 5_000 });
  }, 240_000);

  it("takes the reader of the state queue to know markers where it is that itself, and where a silent one knew them", async () => {
    await query("DELETE FROM known_features");
    const { gate, seen, untilLooks } = await start(2);
    const knows = () => gate.nextReaderKnows("queue-marker");
    await untilLooks(2);
    expect(knows()).toBe(false);
    seen.consumers = 1;
    expect(knows()).toBe(true);
    await query(
      `INSERT INTO managers (id, version, features, is_consuming, seen_at) VALUES ($1, 'now', '["queue-marker"]', true, now() - interval '8 seconds')`,
      [randomUUID()],
    );
    await query("INSERT INTO known_features SELECT 'queue-marker' ON CONFLICT DO NOTHING");
    await eventually(() => expect(gate.mayGoOnWith("queue-marker")).toBe(true), { timeoutMs: 20_000 });
    seen.consumers = 2;
    await untilLooks(3);
    expect([gate.readersKnow("queue-marker"), knows()]).toEqual([false, true]);
  });

  it("stops with it once somebody reads it who has no word, whatever it sees after that, until it has watched anew", async () => {
    await new PostgresFeatureStore(books.dataSource).noteKnown(MANAGER_FEATURES);
    const { gate, seen, untilLooks } = await start(1);
    await eventually(() => expect(goesOn(gate)).toBe(true), { timeoutMs: 5_000 });
    // At once with one look that fails: what it has seen before that must count.
    Object.assign(seen, { consumers: 2, failures: 1 });
    await eventually(() => expect(seen.failures).toBe(0), { timeoutMs: 5_000 });
    expect(goesOn(gate)).toBe(false);
    await untilLooks(1);
    await eventually(async () => expect(await noted()).toEqual([]));
    expect(goesOn(gate)).toBe(false);
    // Its own session is lost: the other one may read what it cannot see.
    seen.consumers = null;
    await untilLooks(2);
    expect(goesOn(gate)).toBe(false);
    // One of its kind has died: that one could stand for the other, which is there.
    seen.consumers = 2;
    await query(
      `INSERT INTO managers (id, version, features, is_consuming, seen_at) VALUES ($1, 'now', $2, true, now() - interval '8 seconds')`,
      [randomUUID(), JSON.stringify(MANAGER_FEATURES)],
    );
    await untilLooks(2);
    expect(goesOn(gate)).toBe(false);
    seen.consumers = 1;
    await eventually(() => expect(goesOn(gate)).toBe(true), { timeoutMs: 30_000 });
  }, 120_000);

  it("does not where a manager lives that does not announce it", async () => {
    await query("INSERT INTO known_features SELECT 'admission' ON CONFLICT DO NOTHING");
    await query(`INSERT INTO managers (id, version, features, is_consuming) VALUES ($1, 'older', '["pause"]', true)`, [
      randomUUID(),
    ]);
    const { gate, untilLooks } = await start(2);
    await untilLooks(1);
    expect(goesOn(gate)).toBe(false);
    // A look is counted as it begins.
    await eventually(async () => expect(await noted()).not.toContain("admission"));
    expect(goesOn(gate)).toBe(false);
  });
});
