import { configDefaults, defineConfig } from "vitest/config";
import { findKubectl } from "./scripts/setup/kubectl-program.mjs";
import { findNginx } from "./scripts/setup/nginx-program.mjs";
import { findPgbouncer } from "./scripts/setup/pgbouncer-program.mjs";
import { MAIN_PATH } from "./test/support/runs/main-path.ts";
import { SlowFirst } from "./test/support/runs/slow-first.ts";

const servers = {
  globalSetup: ["test/support/runs/global-setup.ts"],
  setupFiles: ["test/support/runs/each-file.ts"],
  isolate: false, // a process for each file would spend a second of CPU on its imports
  testTimeout: 240_000, // those that take long say so themselves; a machine that others use, too, may take ten times as long
  hookTimeout: 300_000,
};

/** Only for scripts/soak.mjs: it lasts as long as it is told. */
const soak = { test: { ...servers, name: "soak", include: ["test/soak/*.test.ts"] } };

/**
 * Three nodes of RabbitMQ that are cut off from one another, which takes root and minutes: only for `npm test -- --all`, in a
 * run of their own after all others, and by name.
 */
const cluster = {
  test: {
    ...servers,
    name: "cluster",
    include: ["test/cluster/*.test.ts"],
    fileParallelism: false, // they measure times
    testTimeout: 480_000,
    hookTimeout: 480_000,
  },
};

/** They look at what `kubectl kustomize` makes of k8s/; the last line of `npm test` says where they were left out. */
const ofManifests = ["test/**/deploy-{kubernetes,dev-overlay,production,network-policies,paths}.test.ts"];
/** Likewise, of a manager behind somebody's proxy. */
const behindNginx = ["test/browser/behind-nginx.test.ts"];
/** Likewise, of a manager whose database is behind a pooler. */
const behindPgbouncer = ["test/integration/database-pooler.test.ts"];

const exclude = [
  ...configDefaults.exclude,
  ...(findKubectl() === null ? ofManifests : []),
  ...(findNginx() === null ? behindNginx : []),
  ...(findPgbouncer() === null ? behindPgbouncer : []),
];

/**
 * Two projects, so that the pure tests need not wait for a broker and a database. Real servers and processes that are
 * killed for real: half of the time they wait, so that two cores carry three files at a time without flicker.
 */
export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    teardownTimeout: 30_000,
    chaiConfig: { truncateThreshold: 4_000 }, // the summary at a run's end has no more than the message
    projects: [
      // They take milliseconds; the limits are for a machine that does much else.
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          exclude,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          setupFiles: ["test/support/runs/each-unit-file.ts"],
          isolate: false,
        },
      },
      {
        test: {
          ...servers,
          name: "servers",
          include:
            process.env.TESTS === "main-path"
              ? MAIN_PATH.map((name) => `test/${name}.test.ts`)
              : ["test/{integration,e2e,browser}/**/*.test.ts"],
          exclude,
        },
      },
      ...(process.env.WITH_CLUSTER === undefined ? [] : [cluster]),
      ...(process.env.SOAK_MINUTES === undefined ? [] : [soak]),
    ],
  },
});
