import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { TestProject } from "vitest/node";
import { givenServer } from "../../../scripts/servers/given-server.mjs";
import { removePostgresData, startPostgres } from "../../../scripts/servers/postgres.mjs";
import { startRabbitmq } from "../../../scripts/servers/rabbitmq.mjs";
import { buildIfStale } from "../../../scripts/setup/build.mjs";
import { ROOT } from "../processes/processes.ts";
import { makeBooksTemplate } from "../servers/books-template.ts";
import { BROKER_TEST_CONFIG, DATABASE_TEST_CONFIG } from "../servers/test-servers.ts";
import { COMPILED, compiled } from "./observers-dir.ts";

declare module "vitest" {
  export interface ProvidedContext {
    amqpUrl: string;
    managementUrl: string;
    databaseUrl: string;
    /** A database there: the books, empty. */
    booksTemplate: string;
    /** Everything that the run writes is in there, so that it goes even if a file could not clean up. */
    runDir: string;
  }
}

/**
 * One broker and one database for the whole run; each test file takes a vhost and a database of its own in them.
 *
 * They end with this process, whatever ends it: see scripts/processes/leash.mjs. `AMQP_URL` with `AMQP_MANAGEMENT_URL`,
 * and `DATABASE_URL`, name servers to use instead.
 */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await buildIfStale(ROOT); // processes are started from it, whatever was compiled last
  await compileObservers();
  const dir = mkdtempSync(join(tmpdir(), "unacked-test-"));
  const [broker, database] = await Promise.allSettled([
    brokerForRun(join(dir, "rabbitmq")),
    databaseForRun(join(dir, "postgres")),
  ]);

  async function teardown(): Promise<void> {
    const running = [broker, database].filter((server) => server.status === "fulfilled");
    await Promise.all(running.map((server) => server.value.end()));
    removePostgresData(join(dir, "postgres"));
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }

  if (broker.status === "rejected" || database.status === "rejected") {
    await teardown();
    throw broker.status === "rejected" ? broker.reason : (database as PromiseRejectedResult).reason;
  }
  provide("booksTemplate", database.value.template.name);
  provide("runDir", dir);
  provide("amqpUrl", broker.value.amqpUrl);
  provide("managementUrl", broker.value.managementUrl);
  provide("databaseUrl", database.value.databaseUrl);
  return teardown;
}

/**
 * The tests' own observers and tasks as JavaScript, each a file, and zod one beside them: thousands of slots are started, and each
 * would load what translates them, and zod's hundred files.
 */
async function compileObservers(): Promise<void> {
  const inFolder = (folder: (typeof COMPILED)[number]) =>
    build({
      entryPoints: [join(ROOT, `test/fixtures/${folder}/*.ts`)],
      outdir: join(ROOT, compiled(folder)),
      bundle: true,
      splitting: true,
      chunkNames: "shared/[name]-[hash]", // not at the top, where observers are
      external: ["@unacked/sdk", "pg"],
      platform: "node",
      format: "esm",
      logLevel: "warning",
    });
  await Promise.all(COMPILED.map(inFolder));
}

async function brokerForRun(dir: string) {
  const amqpUrl = givenServer("AMQP_URL");
  const managementUrl = process.env.AMQP_MANAGEMENT_URL;
  if (amqpUrl !== undefined) {
    if (managementUrl === undefined) {
      throw new Error(
        "AMQP_URL is set: set AMQP_MANAGEMENT_URL too (http://user:password@host:15672), the tests make their vhosts through it.",
      );
    }
    return { amqpUrl, managementUrl, end: async () => undefined };
  }
  const broker = await startRabbitmq({ dir, config: BROKER_TEST_CONFIG });
  // Its data is thrown away: an orderly stop would take 6 s and give nothing.
  const end = () => broker.kill().then(broker.stop);
  return { amqpUrl: broker.amqpUrl, managementUrl: broker.managementUrl, end };
}

async function databaseForRun(dir: string) {
  const given = givenServer("DATABASE_URL");
  if (given !== undefined) {
    const template = await makeBooksTemplate(given);
    return { databaseUrl: given, template, end: template.drop };
  }
  const database = await startPostgres({ dir, config: DATABASE_TEST_CONFIG });
  return { databaseUrl: database.databaseUrl, template: await makeBooksTemplate(database.databaseUrl), end: database.stop };
}
