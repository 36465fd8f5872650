import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Cluster } from "../../scripts/servers/cluster/cluster.mjs";
import { ROOT } from "../support/processes/processes.ts";
import { proves } from "../support/runs/counts.ts";
import { privateCluster } from "../support/servers/servers.ts";
import { ClusterSystem } from "../support/system/cluster-system.ts";

const OBSERVERS = 30;
const PRESENT = process.env.RABBITMQ_ROOT ?? "";
/** Made by `npm run prove -- cluster --release sid`. */
const NEWER = join(ROOT, ".unacked/suites/sid");

/** With `--release trixie`. Debian has 3.10, 4.0 and 4.3; RabbitMQ goes to 4.3 from 4.2 alone. */
describe.skipIf(!proves("cluster") || !PRESENT.endsWith("trixie") || !existsSync(NEWER))(
  "a node of 4.3 in a cluster of 4.0",
  () => {
    let cluster: Cluster;
    let at: ClusterSystem;

    beforeAll(async () => {
      cluster = await privateCluster({ cluster_partition_handling: "pause_minority" });
      at = await ClusterSystem.start(cluster, OBSERVERS);
    });
    afterAll(() => at?.close());

    it("does not start, as it says; all goes on without it, and it comes back as it was", async () => {
      await cluster.evaluate("a", "rabbit_feature_flags:enable_all()");
      at.strikes();
      await cluster.endNode("a", "SIGTERM");
      await expect(cluster.start("a", NEWER)).rejects.toThrow(/Error during startup: \{error,.*unsupported\}/);
      await cluster.start("a", PRESENT);
      await cluster.untilWhole();
      const { overlapMs, boundMs, missedMs } = await at.judge();
      expect(overlapMs).toBeLessThanOrEqual(boundMs + missedMs);
    });
  },
);
