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
import { SSL_MODES, sslModeOf } from "./adapters/postgres/connection/ssl-mode.ts";
import { RequestSettings } from "./request-settings.ts";

const secretUrl = (description: string) => withTraits(text().describe(description), { secret: true, orFile: true });

const SETTINGS = z.object({
  AMQP_URL: secretUrl("The broker: `amqp://user:password@host:5672/vhost`, or `amqps://`."),
  DATABASE_URL: secretUrl(
    "PostgreSQL 14 or later: `postgres://user:password@host:5432/database`, with `?sslmode=` disable, require (encrypted, to whomever), verify-ca or verify-full (with DATABASE_TLS_CA_FILE the default).",
  ),
  ...tlsSettings("AMQP", "the broker"),
  ...tlsSettings("DATABASE", "PostgreSQL"),
  HOST: text().default("127.0.0.1").describe("The address that REST and the page listen on."),
  PORT: wholeNumber(0, 65_535).default(8080).describe("Their port; 0: any free one."),
  ...AccessSettings.shape,
  HEARTBEAT_S: wholeNumber(1, 600).default(10).describe("The broker's heartbeat in seconds."),
  DATABASE_POOL_SIZE: wholeNumber(3, 1_000)
    .default(10)
    .describe("Connections to PostgreSQL at most (one more listens for notifications)."),
  WORK_QUEUE_TYPE: oneOf(["classic", "quorum"])
    .default("classic")
    .describe(
      "The type of the work queues, and of those for events and errors: `quorum` for clusters of RabbitMQ 4.3 and later. The same for managers and services.",
    ),
  RETENTION_DAYS: anyNumber(0, 36_500)
    .default(30)
    .describe(
      "How long Deleted observers, ended runs and services, errors and the audit trail are kept, in days; then they are removed in small batches.",
    ),
  TASK_RETENTION_DAYS: wholeNumber(1, 3_650)
    .default(7)
    .describe(
      "How long tasks that are over are kept, in days; then whole days are dropped at once. For so long an id that a client chose is remembered.",
    ),
  TIMER_RETENTION_DAYS: anyNumber(0, 3_650)
    .default(7)
    .describe(
      "How long timers that are over are kept, in days; then they are removed in small sets. For so long their ids are remembered.",
    ),
  TASK_CREATION_POOLS: textList(text())
    .optional()
    .describe(
      "Pools into which handlers of tasks may create tasks (`ctx.tasks.create`) besides their own, separated by commas; `*`: all. Unset: none.",
    ),
  ...RequestSettings.shape,
  LOG_LEVEL: oneOf(["debug", "info", "warn", "error"]).default("info").describe("The mildest level that is logged."),
});

function tlsFlawsOf(settings: z.output<typeof SETTINGS>) {
  const isBrokers = settings.AMQP_URL.startsWith("amqps:");
  const mode = sslModeOf(settings.DATABASE_URL, tlsFilesOf("DATABASE", settings));
  if (mode === undefined)
    return [{ setting: "DATABASE_URL", message: `its sslmode must be one of ${SSL_MODES.join(", ")}` }];
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
