import { defineConfig } from "vitest/config";

/** Real servers and processes that are killed for real: two files at a time is what two cores carry without flicker. */
export default defineConfig({
  test: {
    include: ["test/{unit,integration,e2e}/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 90_000,
    teardownTimeout: 30_000,
    // A run that finds no test is a failure; see scripts/test.mjs.
    passWithNoTests: false,
  },
});
