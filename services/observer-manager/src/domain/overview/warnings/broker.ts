import type { Warning } from "@unacked/contracts";
import type { Facts } from "../facts.ts";

/** More batches than this and what the books say is old by more than a moment. */
const STATE_QUEUE_BEHIND = 1_000;

export function brokerAway({ stateQueueLag }: Facts): Warning[] {
  if (stateQueueLag !== null) return [];
  return [
    {
      code: "broker-away",
      subject: "broker",
      message: "The broker cannot be asked.",
      remedy: "Start RabbitMQ, or look at /readyz for why the manager is not connected; it connects again by itself.",
    },
  ];
}

/** The remedy for whoever publishes, and so for each service as well. */
export const FREE_THE_BROKER = "Free memory or disk on the broker; starts and stops wait meanwhile.";

export function brokerIsBlocking({ brokerBlocks }: Facts): Warning[] {
  if (!brokerBlocks) return [];
  return [
    {
      code: "broker-blocks",
      subject: "broker",
      message:
        "The broker blocks what is published (a memory or disk alarm). Observers run on, but no service is heard: what is shown of them is old.",
      remedy: FREE_THE_BROKER,
    },
  ];
}

export function stateQueueBehind({ stateQueueLag }: Facts): Warning[] {
  if (stateQueueLag === null || stateQueueLag <= STATE_QUEUE_BEHIND) return [];
  return [
    {
      code: "state-queue-behind",
      subject: "unacked.state",
      message: `${stateQueueLag} batches of events wait to be read: the books are behind.`,
      remedy: "Look at the active manager and at PostgreSQL's load; nothing is lost meanwhile.",
    },
  ];
}

/** Since RabbitMQ 4.3 a quorum queue waits for a consumer whose node is out of reach (`consumer_disconnected_timeout`, a minute). */
export function takenBackByFlaps({ queueBroker }: Facts): Warning[] {
  if (queueBroker === null || queueBroker.queueType !== "quorum") return [];
  const [major = 0, minor = 0] = queueBroker.brokerVersion.split(".").map(Number);
  if (major > 4 || (major === 4 && minor >= 3)) return [];
  return [
    {
      code: "broker-takes-back",
      subject: "broker",
      message: `RabbitMQ ${queueBroker.brokerVersion} gives the jobs of a quorum queue to others as soon as its nodes lose each other. With cluster_partition_handling = ignore an observer may then run twice until a node is restarted.`,
      remedy:
        "Upgrade to RabbitMQ 4.3 or later, which waits a minute. Until then, on a cluster: cluster_partition_handling = pause_minority on every node. A single node does not have this problem; there WORK_QUEUE_TYPE=classic is as good.",
    },
  ];
}
