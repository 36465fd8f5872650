/**
 * The files with servers that `npm test` runs, beside all the pure tests: of each promise the way that its user takes, within about ten minutes on
 * two cores. `npm test -- --all` runs the others, too: what is killed at each step, many, long, and every page.
 */
export const MAIN_PATH = [
  // from the wire and the tables up
  "integration/broker-connection",
  "integration/broker-publisher",
  "integration/manager-migrations",
  "integration/manager-tables",
  "integration/manager-creation",
  "integration/manager-events",
  "integration/manager-http",
  "integration/manager-http-errors",
  "integration/observer-service",
  "integration/permissions",
  "integration/process-observer",
  "integration/schedule-store",
  "integration/flow-store",
  "integration/timer-store",
  // observers
  "e2e/start-and-stop",
  "e2e/service-dies",
  "e2e/manager-dies",
  "e2e/refusals",
  "e2e/pause",
  "e2e/observers-changed",
  "e2e/checkpoints",
  "e2e/hot-update",
  "e2e/silence",
  "e2e/timeline",
  "e2e/slots-isolation",
  "e2e/slots-poison",
  "e2e/several-pools",
  // what ends, what has its time, what waits for each other
  "e2e/tasks",
  "e2e/tasks-keys",
  "e2e/tasks-client",
  "e2e/requests-timers",
  "e2e/scheduled-observers",
  "e2e/flows",
  // what people look at
  "e2e/demonstration",
  "browser/api-docs",
  "browser/status-page-observers",
  "browser/status-page-tasks",
];
