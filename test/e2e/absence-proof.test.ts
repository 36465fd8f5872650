import { connect } from "amqplib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const QUEUE = "unacked.work.default";
const WAITS = { whenFull: "queue" };

describe("an observer that nobody has", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
  });
  afterEach(() => system.close());

  const ready = async () => (await system.management.queue(QUEUE)).ready;
  const proof = async () => {
    const [row] = await queryRows<{ queue_seen_at: Date | null }>(
      system.env.DATABASE_URL as string,
      "SELECT queue_seen_at FROM absence_proofs WHERE pool = 'default'",
    );
    return row;
  };

  async function wait(...names: string[]): Promise<void> {
    for (const name of names) expect((await system.create(name, {}, WAITS)).status).toBe(201);
  }

  it.runIf(isTurnOf(0))(
    "is sent again, though others wait in the queue all the while",
    async () => {
      await system.startService("service-1", { workers: 4 });
      await system.createMany("running", 4);
      await wait("next-0", "next-1", "next-2");
      await eventually(async () => expect(await ready()).toBe(3));
      // The first, unless a proof of life has just that in its hands.
      const [taken] = await system.management.get(QUEUE, { count: 1 });
      const { name: lost } = JSON.parse(taken?.body.toString() ?? "") as { name: string };
      // Its message is missing; the marker waits behind the others, for its turn.
      await eventually(async () => expect(await proof()).toEqual({ queue_seen_at: null }), { timeoutMs: 60_000 });
      await wait("behind-1", "behind-2", "behind-3");
      await eventually(async () => {
        const { queues } = await system.stats();
        expect(queues?.find(({ queue }) => queue === QUEUE)).toMatchObject({ ready: 5 });
        expect(await ready()).toBe(6);
      });
      for (const name of ["running-0", "running-1", "running-2"]) await system.remove(name);
      await eventually(async () => expect(await system.get(lost)).toMatchObject({ status: "Created", revision: 2 }), {
        timeoutMs: 60_000,
      });
      for (const name of ["behind-2", "behind-3"])
        expect(await system.get(name)).toMatchObject({ status: "Created", revision: 1 });
      await system.startService("service-2");
      await system.untilStatus(["next-0", "behind-1", "behind-2", "behind-3", "next-1", "next-2"], "Processing");
      await system.check();
    },
    240_000,
  );

  it.runIf(isTurnOf(2))(
    "is sent again, though somebody else consumes the queue",
    async () => {
      await system.startService("service-1");
      const foreign = await connect(system.env.AMQP_URL as string);
      try {
        const channel = await foreign.createChannel();
        await channel.prefetch(1);
        const taken = new Promise<Parameters<typeof channel.ack>[0]>((resolve, reject) => {
          channel.consume(QUEUE, (message) => message && resolve(message)).catch(reject);
        });
        await eventually(async () => expect((await system.management.queue(QUEUE)).consumers).toBe(2));
        await wait("observer-0", "observer-1", "observer-2");
        const message = await taken;
        const { name } = JSON.parse(message.content.toString()) as { name: string };
        await eventually(async () => expect(await system.get(name)).toMatchObject({ status: "Processing", revision: 2 }), {
          timeoutMs: 60_000,
        });
        channel.ack(message);
        await channel.close();
      } finally {
        await foreign.close();
      }
      await system.check();
    },
    240_000,
  );

  it.runIf(isTurnOf(1))(
    "is Deleted, if that is what was asked for, though its message waits in a queue that nobody has a worker for",
    async () => {
      await system.startService("full", { workers: 1 });
      await system.createMany("running", 1);
      const dying = await system.startService("dying", { workers: 1 });
      const [moving] = await system.createMany("moving", 1);
      await dying.kill("SIGKILL");
      await system.untilStatus(["moving-0"], "Redistributing");
      expect((await system.call("DELETE", "/api/v1/observers/moving-0")).status).toBe(202);
      await system.untilStatus(["moving-0"], "Deleted", 60_000);
      // A proof of life may have it in hand just now.
      await eventually(async () => expect(await ready()).toBeGreaterThan(0));
      system.isOver(moving?.id ?? "");
      // There is room for it now, and it does not come back.
      await system.remove("running-0");
      await eventually(async () => expect(await ready()).toBe(0));
      await system.check();
    },
    240_000,
  );
});
