import type { RabbitmqOptions } from "../../../scripts/servers/rabbitmq.mjs";

/** What the tests' servers are set to, in the shared ones and in those that a file starts for itself. */

/**
 * Queues write their counters this often, and the management plugin collects as often as its finest retention (in
 * seconds): both 5 s by default, and tests look at them all the time.
 */
export const BROKER_TEST_CONFIG: NonNullable<RabbitmqOptions["config"]> = {
  collect_statistics_interval: 250,
  "management.sample_retention_policies.global.minute": 1,
  "management.sample_retention_policies.basic.minute": 1,
  "management.sample_retention_policies.detailed.minute": 1,
};

/**
 * A power failure is not among the tests, and a kill -9 loses nothing that was handed to the kernel, so nobody waits for
 * the disk.
 */
export const DATABASE_TEST_CONFIG = { max_connections: 200, fsync: "off", full_page_writes: "off" };

/** Of a cluster's nodes. Three quarters of it are longer than the lease at a heartbeat of 4 s, as docs/guarantees.md asks for. */
export const NET_TICKTIME_S = 12;
