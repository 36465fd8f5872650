import { anyNumber, oneOf, text, wholeNumber, withTraits } from "@unacked/settings";
import { z } from "zod";
import { AccessSettings, accessFlaws } from "./access-settings.ts";

const secretUrl = (description: string) => withTraits(text().describe(description), { secret: true, orFile: true });

const SETTINGS = z.object({
  AMQP_URL: secretUrl("The broker: `amqp://user:password@host:5672/vhost`, or `amqps://`."),
  DATABASE_URL: secretUrl("PostgreSQL 14 or later: `postgres://user:password@host:5432/database`."),
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
      "The type of the work queues: `quorum` for clusters of RabbitMQ 4.3 and later. The same for managers and services.",
    ),
  RETENTION_DAYS: anyNumber(0, 36_500)
    .default(30)
    .describe(
      "How long Deleted observers, ended runs and services, and errors are kept, in days; then they are removed in small batches.",
    ),
  LOG_LEVEL: oneOf(["debug", "info", "warn", "error"]).default("info").describe("The mildest level that is logged."),
});

/** Every setting of an observer-manager: from the environment, or from the file that CONFIG_FILE names. */
export const ManagerSettings = SETTINGS.superRefine((settings, context) => {
  for (const { setting, message } of accessFlaws(settings)) context.addIssue({ code: "custom", path: [setting], message });
});
export type ManagerSettings = z.output<typeof ManagerSettings>;
