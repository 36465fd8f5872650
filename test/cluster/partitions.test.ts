import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, whyNoCluster } from "../../scripts/servers/cluster/cluster.mjs";
import { inTurn } from "../support/runs/turns.ts";
import { privateCluster } from "../support/servers/servers.ts";
import { boundOf, HEADING, livesThrough, PARTITIONS, rowOf } from "../support/system/partitions.ts";

const chosen = inTurn(PARTITIONS.filter((partition) => process.env.PROVE !== undefined || partition.isAlwaysTried));

describe.skipIf(whyNoCluster() !== null)("three nodes of RabbitMQ lose each other while their clients reach them", () => {
  let cluster: Cluster;
  const rows = [HEADING];

  beforeAll(async () => {
    cluster = await privateCluster();
  });

  for (const partition of chosen) {
    it(`${partition.what}: nothing is lost, and no two runs of an observer overlap for longer than promised`, async () => {
      const bound = boundOf(partition, cluster.version);
      const outcome = await livesThrough(cluster, partition, bound);
      const row = rowOf(partition, bound, outcome);
      rows.push(row);
      console.log(row);
      expect(outcome.boundedMs, row).toBeLessThanOrEqual(bound.ms + outcome.missedMs);
    });
  }

  afterAll(() => {
    if (rows.length > 1) console.log([`RabbitMQ ${cluster.version}`, ...rows].join("\n"));
  });
});
