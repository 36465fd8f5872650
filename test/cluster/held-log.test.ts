import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Session } from "../../libs/broker/src/index.ts";
import { supervised } from "../support/broker/broker-client.ts";
import { rabbitmqctl } from "../support/broker/rabbitmqctl.ts";
import { type RaftLog, raftLogOf } from "../support/broker/raft-log.ts";
import { proves } from "../support/runs/counts.ts";
import { freshDatabase, type PrivateBroker, privateBroker } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

const OBSERVERS = 10_000;
const HEARTBEAT_S = 10;
const WORK_QUEUE = "unacked.work.default";
const HELD_FOR_MS = 60_000 * Number(process.env.HELD_MINUTES ?? 10);
/** As many as a service takes in seven hours at the default heartbeat of 10 s. */
const PROOFS = 8_000;
const AT_ONCE = 4;
const COME_AND_GO = 2_000;

/**
 * The log that all queues share becomes segments of the queues when it is full. At its default size (64 MB) that takes days here: it
 * is made small, so that minutes show it.
 */
const SMALL_WAL = { "raft.wal_max_size_bytes": 2_000_000 };

/**
 * From 4.3 on a queue is cut when 2 to 12 MB of its log are of no use any more, drawn by chance (rabbit_fifo, `do_snapshot`; a proof of life counts
 * 600 bytes). Here always at 2.
 */
const CUT_SOON = "persistent_term:put(quorum_queue_snapshot_config, {1000, 2000001}).";

/** One node: each replica of a queue keeps the same log. */
describe.skipIf(!proves("cluster"))(`the log of a quorum queue of which ${OBSERVERS} messages are held`, () => {
  let broker: PrivateBroker;
  let system: System;
  const rows: string[] = [];

  beforeAll(async () => {
    broker = await privateBroker({ config: SMALL_WAL });
    await rabbitmqctl(broker.dir, "eval", CUT_SOON);
    const { databaseUrl } = await freshDatabase();
    const env = { WORK_QUEUE_TYPE: "quorum", SLOTS: "1" };
    const { amqpUrl, management } = broker;
    system = new System({ amqpUrl, databaseUrl, management, heartbeatS: HEARTBEAT_S, env });
  });
  afterEach(() => system.close());

  async function note(what: string): Promise<RaftLog> {
    const log = await raftLogOf(broker.dir, "/", WORK_QUEUE);
    const { last, snapshot, segments, bytes, walBytes } = log;
    const row = `${what}: ${last} entries, snapshot at ${snapshot}, ${segments} segments, ${mb(bytes)} MB; shared log ${mb(walBytes)} MB`;
    rows.push(row);
    console.log(row);
    return log;
  }

  async function prove(times: number): Promise<void> {
    const sessions = await Promise.all(Array.from({ length: AT_ONCE }, () => supervised(broker.amqpUrl).connection.up()));
    const share = async (session: Session) => {
      for (let i = 0; i < times / AT_ONCE; i += 1) await session.reach(WORK_QUEUE);
    };
    await Promise.all(sessions.map(share));
  }

  it("grows as its release lets it, and nothing of what is held is lost", async () => {
    const { rabbitmq_version } = (await broker.management.call("GET", "/overview")) as { rabbitmq_version: string };
    rows.push(`RabbitMQ ${rabbitmq_version}, ${OBSERVERS} held`);
    await system.startManager();
    for (const name of ["one", "two"]) await system.startService(name, { workers: OBSERVERS });
    const ids = await system.createCrowd("held", OBSERVERS, { everyMs: 30_000 });
    await note("all run");

    await sleep(HELD_FOR_MS); // so long they are held
    await note(`held for ${HELD_FOR_MS / 60_000} minutes by two services, heartbeat ${HEARTBEAT_S} s`);

    await prove(PROOFS);
    const proven = await note(`after ${PROOFS} proofs of life more`);

    const passing = await system.createCrowd("passing", COME_AND_GO, { everyMs: 30_000 });
    await system.call("POST", "/api/v1/observers/stop", { filter: { q: "passing" } });
    await system.untilStatus(passing, "Deleted", 120_000);
    for (const id of passing) system.isOver(id);
    await note(`after ${COME_AND_GO} that came and went`);

    for (const name of ["one", "two"]) {
      await system.service(name).kill("SIGTERM");
      await system.startService(name, { workers: OBSERVERS });
      await system.untilStatus(ids, "Processing", 120_000);
    }
    await prove(PROOFS / 4);
    await note(`after a rolling restart of the services, and ${PROOFS / 4} proofs`);
    await system.check({ timeoutMs: 120_000, freshMs: 60_000 });
    console.log(rows.join("\n"));
    expect(proven.last).toBeGreaterThan(2 * PROOFS);
    // What docs/deploy.md says: from 4.3 on it is cut although the oldest message is held still, before that it is not.
    if (isAtLeast(rabbitmq_version, 4, 3)) expect(proven.snapshot).toBeGreaterThan(OBSERVERS);
    else expect(proven.snapshot).toBe(0);
  }, 3_600_000);
});

const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [ofMajor = 0, ofMinor = 0] = version.split(".").map(Number);
  return ofMajor > major || (ofMajor === major && ofMinor >= minor);
}
