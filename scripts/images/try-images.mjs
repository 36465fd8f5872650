import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PlainError, say, step } from "../progress.mjs";
import { removePostgresData, startPostgres } from "../servers/postgres.mjs";
import { startRabbitmq } from "../servers/rabbitmq.mjs";
import { withFilesOf } from "./buildah.mjs";
import { imageProgram } from "./image-program.mjs";

const PATIENCE_MS = 20_000;

/**
 * Runs both images on a broker and a database of their own: ready, an observer that runs, the page, the health checks, a disk
 * that cannot be written, SIGTERM. Throws at what is not as it should be.
 *
 * @param {{ manager: string, service: string }} tags
 */
export async function tryImages(tags) {
  const dir = mkdtempSync(join(tmpdir(), "unacked-images-"));
  const postgres = join(dir, "postgres");
  try {
    const [database, broker] = await step("RabbitMQ and PostgreSQL", () =>
      Promise.all([startPostgres({ dir: postgres }), startRabbitmq({ dir: join(dir, "rabbitmq") })]),
    );
    const common = { AMQP_URL: broker.amqpUrl, HOST: "127.0.0.1" };
    try {
      await withFilesOf(tags.manager, async (files) => {
        const settings = { ...common, DATABASE_URL: database.databaseUrl };
        const manager = await imageProgram({ name: "observer-manager", dir, tag: tags.manager, files, settings });
        await withFilesOf(tags.service, async (files) => {
          const settings = { ...common, SERVICE_NAME: "from-image" };
          const service = await imageProgram({ name: "observer-service", dir, tag: tags.service, files, settings });
          await tryTogether(manager, service);
        });
      });
    } finally {
      await Promise.all([broker.stop(), database.stop()]);
    }
  } finally {
    removePostgresData(postgres);
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * @typedef {import("./image-program.mjs").ImageProgram} ImageProgram
 * @param {ImageProgram} manager
 * @param {ImageProgram} service
 */
async function tryTogether(manager, service) {
  const both = [service, manager];
  try {
    await step("The manager, from its image", manager.program.start);
    await step("A service, from its image", service.program.start);
    await tryPage(manager.program.url);
    await tryObserver(manager.program.url);
    for (const each of both) await each.tryHealthCheck();
    for (const each of both) await each.tryConfinement();
    for (const each of both) await each.tryEnd();
  } finally {
    await Promise.all(both.map((each) => each.program.stop()));
  }
}

/** @param {string} url */
async function tryPage(url) {
  const answer = await fetch(`${url}/`);
  const html = await answer.text();
  if (!answer.ok || !html.includes("<title>"))
    throw new PlainError(`GET / answered ${answer.status}: ${html.slice(0, 200)}`);
  say("GET / gives the status page");
}

/** @param {string} url */
async function tryObserver(url) {
  const deadline = performance.now() + PATIENCE_MS;
  const body = JSON.stringify({ name: "first", type: "ticker" });
  for (;;) {
    // The service tells its types within a second or two; until then the type is not known.
    const created = await fetch(`${url}/api/v1/observers`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const found = /** @type {{ status?: string }} */ (await (await fetch(`${url}/api/v1/observers/first`)).json());
    if (found.status === "Processing") return say("an observer was created and is Processing");
    if (performance.now() > deadline)
      throw new PlainError(
        `The observer is not Processing: POST answered ${created.status}, it is ${JSON.stringify(found)}`,
      );
    await sleep(100);
  }
}
