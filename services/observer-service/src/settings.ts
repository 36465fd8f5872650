import { PoolName, ServiceName } from "@unacked/contracts";
import { flag, oneOf, text, textList, tlsFilesOf, tlsFlaws, tlsSettings, wholeNumber, withTraits } from "@unacked/settings";
import { z } from "zod";
import { checkPermissions, PermittedCommand } from "./permissions.ts";
import { MAX_WORKERS } from "./worker-count.ts";

const workerCount = z.union([z.literal("auto"), wholeNumber(1, MAX_WORKERS)], {
  error: `must be a whole number from 1 to ${MAX_WORKERS}, or auto`,
});

const amqpUrl = z.url({ protocol: /^amqps?$/, error: "must look like amqp://user:password@host:5672/vhost (or amqps://)" });

const Settings = z.object({
  AMQP_URL: withTraits(amqpUrl.describe("The broker: `amqp://user:password@host:5672/vhost`, or `amqps://`."), {
    secret: true,
    orFile: true,
  }),
  ...tlsSettings("AMQP", "the broker"),
  SERVICE_NAME: ServiceName.optional().describe(
    "The stable name of this service, its own alone; it outlives the process. Not set: the host's name, which is a container's id and a pod's name.",
  ),
  WORKER_COUNT: workerCount
    .default("auto")
    .describe(
      "How many observers run here at once, 1–65535, or `auto`: 100 a core, at most one per 4 MiB of memory left after 128 MiB.",
    ),
  OBSERVERS_DIR: text()
    .default("observers")
    .describe("The folder of the observer types: every top-level .ts, .js and .mjs file."),
  POOL: PoolName.default("default").describe("The named work queue that this service consumes."),
  HEARTBEAT_S: wholeNumber(1, 600)
    .default(10)
    .describe(
      "The broker's heartbeat in seconds. A silent host's observers stop after 1.5 of them and run elsewhere after 2 to 3.",
    ),
  HOST: text().default("127.0.0.1").describe("The address of the health endpoints."),
  PORT: wholeNumber(0, 65_535).default(8081).describe("The port of the health endpoints; 0: any free one."),
  STOP_TIMEOUT_MS: wholeNumber(100, 3_600_000)
    .default(25_000)
    .describe(
      "How long a handler may take to settle after its abort before that is an error, and how long draining may take, in ms.",
    ),
  WORK_QUEUE_TYPE: oneOf(["classic", "quorum"])
    .default("classic")
    .describe(
      "The type of the durable queues: `quorum` for clusters of RabbitMQ 4.3 and later. The same for managers and services.",
    ),
  DECLARE_TOPOLOGY: flag()
    .default(true)
    .describe(
      "Whether this service declares the exchanges and queues that it uses. `false`: it waits for a manager to, and its broker user needs the few rights of docs/deploy.md alone.",
    ),
  ALLOW_PROCESS_OBSERVERS: flag()
    .default(false)
    .describe("Whether the type `process` exists here, which runs the commands of PROCESS_COMMANDS as this service's user."),
  PROCESS_COMMANDS: textList(PermittedCommand)
    .optional()
    .describe(
      "The commands that `process` observers may run, separated by commas: names, found by PATH, or absolute paths; `*`: any. Arguments are not limited: with `sh` or `node` among them, any command may run.",
    ),
  ALLOW_PRIVATE_ADDRESSES: flag()
    .default(false)
    .describe(
      "Whether `http-poll` and `price-watch` may connect to loopback, private, link-local and other addresses that are not public.",
    ),
  LOG_LEVEL: oneOf(["debug", "info", "warn", "error"]).default("info").describe("The mildest level that is logged."),
});

/** Every setting of an observer-service: from the environment, or from the file that CONFIG_FILE names. */
export const ServiceSettings = Settings.superRefine(checkPermissions).superRefine((settings, context) => {
  const isEncrypted = settings.AMQP_URL.startsWith("amqps:");
  for (const { setting, message } of tlsFlaws(
    "AMQP",
    tlsFilesOf("AMQP", settings),
    isEncrypted,
    "goes with an amqps:// AMQP_URL",
  ))
    context.addIssue({ code: "custom", path: [setting], message });
});
export type ServiceSettings = z.output<typeof ServiceSettings>;
