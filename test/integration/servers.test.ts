import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { connect } from "amqplib";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, freshVhost, privateBroker, privatePostgres, temporaryFolder } from "../support/servers/servers.ts";

describe("the run's broker", () => {
  test("gives each file an empty vhost, whose queues can be counted soon after they change", async () => {
    const { amqpUrl, management } = await freshVhost();
    const connection = await connect(amqpUrl, { clientProperties: { connection_name: "counter" } });
    const channel = await connection.createChannel();
    await channel.assertQueue("jobs", { durable: true });
    await channel.bindQueue("jobs", "amq.direct", "jobs");
    expect(await management.publish({ exchange: "amq.direct", routingKey: "jobs", body: "one" })).toBe(true);
    expect(await management.publish({ exchange: "amq.direct", routingKey: "nowhere", body: "none" })).toBe(false);
    channel.publish("amq.direct", "jobs", Buffer.from("two"));
    await channel.prefetch(1);
    await channel.consume("jobs", () => undefined);

    await eventually(
      async () => expect(await management.queue("jobs")).toMatchObject({ ready: 1, unacked: 1, consumers: 1 }),
      {
        what: "one ready and one unacked message",
        timeoutMs: 10_000,
      },
    );
    const [own] = await eventually(async () => {
      const found = (await management.connections()).filter((each) => each.clientName === "counter");
      expect(found).toHaveLength(1);
      return found;
    });

    const closed = new Promise((resolve) => connection.once("close", resolve));
    connection.on("error", () => undefined);
    await management.closeConnection(own?.name ?? "");
    await closed;
    const bodies = (await management.get("jobs")).map((message) => message.body.toString());
    expect(bodies).toEqual(["one", "two"]);
  });
});

describe("the run's database", () => {
  test("gives each file an empty database of its own", async () => {
    const [first, second] = await Promise.all([freshDatabase(), freshDatabase()]);
    expect(first.databaseUrl).not.toBe(second.databaseUrl);
    expect(await query(first.databaseUrl, "SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'public'")).toEqual([
      { n: 0 },
    ]);
  });
});

describe("a private broker", () => {
  test.runIf(isTurnOf(0))("whose port another program takes is said to have ended for it, never to be ready", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    // Management answers before the node opens its AMQP port; whoever connects there meets the other program.
    const starting = startRabbitmq({ dir: temporaryFolder("taken-port"), port });
    await expect(starting).rejects.toThrow(/eaddrinuse|already allocated/);
    other.close();
  });

  test.runIf(isTurnOf(2))(
    "has its messages back after kill -9, on the same address, as the same node; ends without another's harm",
    async () => {
      const broker = await privateBroker();
      const declaring = await connect(broker.amqpUrl);
      await (await declaring.createChannel()).assertQueue("jobs", { durable: true });
      await declaring.close();
      // A confirm says that a message is on disk, not that its queue is: one that was declared an instant before the kill may be gone.
      await broker.stop();
      await broker.start();
      const before = { amqpUrl: broker.amqpUrl, pid: broker.pid };
      const connection = await connect(broker.amqpUrl);
      connection.on("error", () => undefined);
      const channel = await connection.createConfirmChannel();
      channel.sendToQueue("jobs", Buffer.from("kept"), { persistent: true });
      await channel.waitForConfirms();
      await channel.consume("jobs", () => undefined); // held unacked when the node dies

      await broker.kill();
      expect(isAlive(before.pid)).toBe(false);
      await broker.start();

      expect(broker.amqpUrl).toBe(before.amqpUrl);
      expect(broker.pid).not.toBe(before.pid);
      await eventually(async () => {
        const [message] = await broker.management.get("jobs"); // 404 until the queue has been recovered
        expect(message?.body.toString()).toBe("kept");
      });

      await broker.kill();
      await broker.stop(); // its port mapper too
      const { amqpUrl, management } = await freshVhost(); // of the run's broker, which has a port mapper of its own
      expect(new URL(amqpUrl).port).not.toBe(String(broker.port));
      expect(await management.queues()).toEqual([]);
    },
  );
});

describe("a private PostgreSQL", () => {
  test("has its rows back after kill -9, on the same address, although its lock file stayed", async () => {
    const server = await privatePostgres();
    const { databaseUrl, pid } = server;
    await query(databaseUrl, "CREATE TABLE kept (n int)");
    await query(databaseUrl, "INSERT INTO kept VALUES (1)");

    await server.kill();
    expect(isAlive(pid)).toBe(false);
    await server.start();

    expect(server.databaseUrl).toBe(databaseUrl);
    expect(await query(databaseUrl, "SELECT n FROM kept")).toEqual([{ n: 1 }]);
  });

  // Only root has to, and can, hand PostgreSQL to another user; most containers forbid root the user namespaces that
  // are used elsewhere.
  test.runIf(process.getuid?.() === 0)("runs as another user where root may not make a user namespace", async () => {
    const server = await privatePostgres({ runAs: "other-user" });
    await query(server.databaseUrl, "CREATE TABLE kept (n int)");
    await server.kill();
    await server.start();
    expect(await query(server.databaseUrl, "SELECT count(*)::int AS n FROM kept")).toEqual([{ n: 0 }]);
  });

  test("stops although clients are connected", async () => {
    const server = await privatePostgres();
    const client = new pg.Client({ connectionString: server.databaseUrl });
    client.on("error", () => undefined);
    await client.connect();
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // ESRCH
  }
}

async function query(databaseUrl: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
