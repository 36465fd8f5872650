import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest (15 to 180 s on two cores), each that mostly computes beside one that mostly waits. What is
 * not here is shorter: Vitest orders it by what it remembers, on a fresh clone by size.
 */
export const SLOW = [
  "e2e/balance-rolling",
  "e2e/schedules",
  "e2e/tasks-none-lost",
  "browser/status-page-tabs",
  "e2e/observers-changed-killed",
  "browser/status-page-timers",
  "e2e/timers",
  "browser/status-page-task-figures",
  "e2e/tasks-batches",
  "e2e/balance",
  "e2e/upgrade",
  "integration/manager-contract",
  "e2e/pool-queues",
  "browser/status-page-bulk",
  "e2e/slots-fencing",
  "e2e/tasks-faults",
  "browser/status-page-looks",
  "e2e/faults-database",
  "e2e/books-heal",
  "e2e/servers-restart",
  "e2e/cli",
  "e2e/standby",
  "e2e/backup",
  "integration/observer-service-lease",
  "integration/observer-service",
  "e2e/faults-broker",
  "e2e/drain",
  "e2e/least-rights",
  "e2e/tracing-off",
  "e2e/manager-dies",
  "e2e/faults-silent-host",
  "e2e/logs",
  "integration/broker-connection",
  "e2e/faults-crash-points",
  "e2e/access",
  "browser/status-page-sign-in",
  "integration/observer-service-drain",
  "e2e/service-dies",
  "e2e/faults-consumer-timeout",
  "e2e/messages-on-the-wire",
  "e2e/faults-state-queue",
  "browser/status-page-logs",
  "integration/tls",
  "e2e/bulk",
  "integration/manager-access",
  "e2e/faults-mass",
  "integration/manager-tls",
  "integration/servers",
  "e2e/faults-alarm",
  "integration/manager-http-bulk",
  "e2e/random-walk",
  "browser/status-page-manager-away",
  "e2e/tracing",
];

/** So that no long file is begun at the end, to run on alone while the other workers have nothing left. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const places = new Map(SLOW.map((name, place) => [join(root, "test", `${name}.test.ts`), place]));
    const placeOf = ({ moduleId }: TestSpecification) => places.get(moduleId) ?? SLOW.length;
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
