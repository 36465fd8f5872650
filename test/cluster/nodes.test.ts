import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, whyNoCluster } from "../../scripts/servers/cluster/cluster.mjs";
import { percentile } from "../support/acts/gaps.ts";
import { proves } from "../support/runs/counts.ts";
import { privateCluster } from "../support/servers/servers.ts";
import { type Blow, ClusterSystem } from "../support/system/cluster-system.ts";
import { NODE_FAULTS } from "../support/system/node-faults.ts";

const FULL = proves("cluster");
const OBSERVERS = FULL ? 300 : 30;
/** So long whoever lost its node takes to be connected to another one; the short form is for machines that are several times slower. */
const RECONNECTED_WITHIN_MS = FULL ? 1_000 : 20_000;

describe.skipIf(whyNoCluster() !== null)("a system on three nodes of RabbitMQ, each program told of all of them", () => {
  let cluster: Cluster;
  let at: ClusterSystem;
  const rows: string[] = [];

  beforeAll(async () => {
    cluster = await privateCluster({ cluster_partition_handling: "pause_minority" });
    at = await ClusterSystem.start(cluster, OBSERVERS);
  });

  for (const { what, rounds, leavesMajority, isShort, befall } of NODE_FAULTS) {
    it.skipIf(!FULL && !isShort)(
      `${what}: nothing is lost, nothing runs twice for longer than promised, and whoever lost its node has another within a second`,
      async () => {
        const blows: Blow[] = [];
        for (let round = 0; round < (FULL ? rounds : 1); round += 1) {
          await befall(at);
          const blow = await at.judge();
          blows.push(blow);
          expect(blow.overlapMs).toBeLessThanOrEqual(blow.boundMs + blow.missedMs);
          expect(blow.reconnectsMs.length).toBeGreaterThan(0);
          if (leavesMajority)
            expect(Math.max(...blow.reconnectsMs)).toBeLessThanOrEqual(RECONNECTED_WITHIN_MS + blow.missedMs);
        }
        const row = rowOf(what, blows);
        rows.push(row);
        console.log(row);
      },
    );
  }

  afterAll(async () => {
    if (rows.length > 0) console.log([`RabbitMQ ${cluster.version}, ${OBSERVERS} observers`, ...rows].join("\n"));
    await at?.close();
  });
});

function rowOf(what: string, blows: Blow[]): string {
  const gaps = blows.flatMap((blow) => blow.gapsMs);
  const worst = (of: (blow: Blow) => number) => Math.round(Math.max(...blows.map(of)));
  const reconnects = blows.flatMap((blow) => blow.reconnectsMs);
  return [
    `${what} (${blows.length}×):`,
    `${gaps.length} moves, gap p50 ${percentile(gaps, 0.5)} ms, p99 ${percentile(gaps, 0.99)} ms, longest ${percentile(gaps, 1)} ms;`,
    `all at work after ${worst((blow) => blow.allAgainMs)} ms at most;`,
    `${reconnects.length} sessions lost, had again after p50 ${percentile(reconnects, 0.5)} ms, at most ${percentile(reconnects, 1)} ms;`,
    `overlap ${worst((blow) => blow.overlapMs)} ms; bystander missed ${worst((blow) => blow.missedMs)} ms`,
  ].join(" ");
}
