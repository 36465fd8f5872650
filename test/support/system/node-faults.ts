import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Cluster, NodeName } from "../../../scripts/servers/cluster/cluster.mjs";
import { eventually } from "../eventually.ts";
import type { ClusterSystem } from "./cluster-system.ts";

/** Longer than a service may go on without a proof that the queue answers, so that everything stands still meanwhile. */
const TWO_ARE_AWAY_MS = 10_000;

/** What befalls nodes of a cluster while a system runs on it; when it is over, all three run together again. */
export interface NodeFault {
  readonly what: string;
  /** How often `npm run prove -- cluster` has it happen; otherwise once. */
  readonly rounds: number;
  /** Whether `npm test -- --all` has it happen, too. */
  readonly isShort: boolean;
  /** Whether another node is there for whoever lost its own. */
  readonly leavesMajority: boolean;
  befall(at: ClusterSystem): Promise<void>;
}

export const NODE_FAULTS: NodeFault[] = [
  {
    what: "kill -9 of a node with services on it, which leads nothing",
    rounds: 3,
    isShort: false,
    leavesMajority: true,
    befall: async (at) => {
      const node = await at.nodeOfAService();
      await at.leadAllFrom(at.nodes.find((each) => each !== node) as NodeName);
      await killed(at, node);
    },
  },
  {
    what: "kill -9 of the node that leads the work queue, with services on it",
    rounds: 3,
    isShort: true,
    leavesMajority: true,
    befall: async (at) => {
      const node = await at.nodeOfAService();
      await at.leadAllFrom(node);
      await killed(at, node);
    },
  },
  {
    what: "kill -9 of two nodes, which are back 10 s later",
    rounds: 1,
    isShort: false,
    leavesMajority: false,
    befall: async (at) => {
      const { cluster } = at;
      const leader = await at.leader();
      const two = [leader, at.nodes.find((each) => each !== leader) as NodeName];
      at.strikes();
      await Promise.all(two.map((node) => cluster.endNode(node, "SIGKILL")));
      await sleep(TWO_ARE_AWAY_MS); // so long they are away
      at.mends();
      await Promise.all(two.map((node) => cluster.start(node)));
      await wholeAgain(cluster);
    },
  },
  {
    what: "a rolling restart of all three",
    rounds: 1,
    isShort: false,
    leavesMajority: true,
    befall: async (at) => {
      at.strikes();
      for (const node of at.nodes) {
        await at.cluster.endNode(node, "SIGTERM");
        await at.cluster.start(node);
        await at.cluster.untilWhole();
      }
    },
  },
];

/** It stays away until everything runs without it. */
async function killed(at: ClusterSystem, node: NodeName): Promise<void> {
  at.strikes();
  await at.cluster.endNode(node, "SIGKILL");
  await at.untilAllRunAgain();
  await at.cluster.start(node);
  await at.cluster.untilWhole();
}

/** A node that was alone, and paused, may have to be started again by an operator. */
async function wholeAgain(cluster: Cluster): Promise<void> {
  await eventually(
    async () => {
      await cluster.untilWhole(20_000).catch(async () => {
        const [stray] = await cluster.strays();
        if (stray === undefined) return;
        await cluster.endNode(stray, "SIGKILL");
        await cluster.start(stray);
      });
      expect(await cluster.strays()).toEqual([]);
    },
    { timeoutMs: 60_000, what: "all three nodes together" },
  );
}
