import { flawOfBrokerUrls } from "@unacked/broker";
import { PoolName } from "@unacked/contracts";
import {
  anyNumber,
  oneOf,
  text,
  textList,
  tlsFilesOf,
  tlsFlaws,
  tlsSettings,
  wholeNumber,
  withTraits,
} from "@unacked/settings";
import { z } from "zod";
import { AccessSettings, accessFlaws } from "./access-settings.ts";
import { databaseUrls, flawOfDatabaseUrls, flawOfServers } from "./adapters/postgres/connection/database-urls.ts";
import { sslModeOf } from "./adapters/postgres/connection/ssl-mode.ts";
import { basePath } from "./base-path.ts";
import { RequestSettings } from "./request-settings.ts";

/** @param flawOf what is wrong with such an address by itself */
const secretUrl = (flawOf: (url: string) => string | undefined, description: string) => {
  const url = text().superRefine((given, context) => {
    const message = flawOf(given);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
  return withTraits(url.describe(description), { secret: true, orFile: true });
};

const poolOrAll = text().superRefine((pool, context) => {
  const name = PoolName.safeParse(pool);
  if (name.success || pool === "*") return;
  context.addIssue({ code: "custom", message: `"${pool}" is no pool: ${name.error.issues[0]?.message}` });
});

const SETTINGS = z.object({
  AMQP_URL: secretUrl(
    flawOfBrokerUrls,
    "The broker: `amqp://user:password@host:5672/vhost`, or `amqps://`; of a cluster each node, separated by commas: where one is lost, the next is tried at once.",
  ),
  DATABASE_URL: secretUrl(
    flawOfDatabaseUrls,
    "PostgreSQL 14 or later: `postgres://user:password@host:5432/database`, with `?sslmode=` disable, require (encrypted, the server is not checked), verify-ca or verify-full (with DATABASE_TLS_CA_FILE the default); of a primary and its standbys each, separated by commas: the one that is the primary is used. Not through a pooler by transaction (PgBouncer's `pool_mode = transaction`).",
  ),
  ...tlsSettings("AMQP", "the broker"),
  ...tlsSettings("DATABASE", "PostgreSQL"),
  HOST: text().default("127.0.0.1").describe("The address that REST and the page listen on."),
  PORT: wholeNumber(0, 65_535).default(8080).describe("Their port; 0: any free one."),
  BASE_PATH: basePath().describe(
    "The path below which REST and the page are, such as `/unacked`, for a proxy that passes it on as it is; /healthz, /readyz and /metrics answer at the root, too. The same for all managers.",
  ),
  ...AccessSettings.shape,
  HEARTBEAT_S: wholeNumber(1, 600).default(10).describe("The broker's heartbeat in seconds."),
  DATABASE_POOL_SIZE: wholeNumber(3, 1_000)
    .default(10)
    .describe("Connections to PostgreSQL at most (one more listens for notifications)."),
  WORK_QUEUE_TYPE: oneOf(["classic", "quorum"])
    .default("classic")
    .describe(
      "The type of the durable queues that this program makes: `quorum` for clusters, best of RabbitMQ 4.3 and later. One that is there keeps the type it has.",
    ),
  RETENTION_DAYS: anyNumber(0, 36_500)
    .default(30)
    .describe(
      "How long Deleted observers, ended runs and services, errors and the audit trail are kept, in days; then they are removed in small batches.",
    ),
  TASK_RETENTION_DAYS: wholeNumber(1, 3_650)
    .default(7)
    .describe(
      "How long tasks that are over are kept, in days; then whole days are dropped at once. For so long an id that a client chose is remembered. A look-up locks the table of each day with its four indexes: from 60 days on raise PostgreSQL's `max_locks_per_transaction` (64) to 6 for each day, or many look-ups at once are out of shared memory.",
    ),
  TIMER_RETENTION_DAYS: anyNumber(0, 3_650)
    .default(7)
    .describe(
      "How long timers that are over are kept, in days; then they are removed in small sets. For so long their ids are remembered.",
    ),
  REBALANCE: oneOf(["auto", "manual"])
    .default("manual")
    .describe(
      "`auto`: where a pool has been calm for a minute and a service is far from its share, observers are moved, a few at a time; `manual`: only when somebody asks for it. The same for all managers.",
    ),
  TASK_CREATION_POOLS: textList(poolOrAll)
    .optional()
    .describe(
      "Pools into which handlers of tasks may create tasks (`ctx.tasks.create`) besides their own, separated by commas; `*`: all. Unset: none.",
    ),
  ...RequestSettings.shape,
  LOG_LEVEL: oneOf(["debug", "info", "warn", "error"]).default("info").describe("The lowest level that is logged."),
});

function tlsFlawsOf(settings: z.output<typeof SETTINGS>) {
  const isBrokers = settings.AMQP_URL.startsWith("amqps:");
  const flawOfAll = flawOfServers(settings.DATABASE_URL, tlsFilesOf("DATABASE", settings));
  if (flawOfAll !== undefined) return [{ setting: "DATABASE_URL", message: flawOfAll }];
  const mode = sslModeOf(databaseUrls(settings.DATABASE_URL)[0] ?? "", tlsFilesOf("DATABASE", settings));
  return [
    ...tlsFlaws("AMQP", tlsFilesOf("AMQP", settings), isBrokers, "goes with an amqps:// AMQP_URL"),
    ...tlsFlaws("DATABASE", tlsFilesOf("DATABASE", settings), mode !== "disable", "goes with another sslmode than disable"),
  ];
}

/** Every setting of an observer-manager: from the environment, or from the file that CONFIG_FILE names. */
export const ManagerSettings = SETTINGS.superRefine((settings, context) => {
  for (const { setting, message } of [...accessFlaws(settings), ...tlsFlawsOf(settings)])
    context.addIssue({ code: "custom", path: [setting], message });
});
export type ManagerSettings = z.output<typeof ManagerSettings>;
