import { join } from "node:path";
import { removePostgresData, startPostgres } from "../servers/postgres.mjs";
import { startRabbitmq } from "../servers/rabbitmq.mjs";
import { providePostgres, provideRabbitmq } from "../setup/server-programs.mjs";

/**
 * A RabbitMQ and a PostgreSQL for one run.
 *
 * @typedef {Awaited<ReturnType<typeof startServers>>} Servers
 * @param {string} dir for what they keep
 */
export async function startServers(dir) {
  await provideRabbitmq();
  providePostgres();
  const postgres = join(dir, "postgres");
  const [database, broker] = await Promise.all([
    startPostgres({ dir: postgres }),
    startRabbitmq({ dir: join(dir, "rabbitmq") }),
  ]);
  return {
    addresses: { AMQP_URL: broker.amqpUrl, DATABASE_URL: database.databaseUrl },
    async stop() {
      await Promise.all([broker.stop(), database.stop()]);
      removePostgresData(postgres);
    },
  };
}
