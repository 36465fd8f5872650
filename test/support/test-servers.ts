import type { RabbitmqOptions } from "../../scripts/servers/rabbitmq.mjs";

/** What the tests' servers are set to, in the shared ones and in those that a file starts for itself. */

/**
 * Counts in the management API lag behind by this interval (5 s by default): tests look at them all the time. The rates
 * would only cost.
 */
export const BROKER_TEST_CONFIG: NonNullable<RabbitmqOptions["config"]> = {
  collect_statistics_interval: 100,
  "management.rates_mode": "none",
};

/**
 * A power failure is not among the tests, and a kill -9 loses nothing that was handed to the kernel, so nobody waits for
 * the disk.
 */
export const DATABASE_TEST_CONFIG = { max_connections: 200, fsync: "off", full_page_writes: "off" };
