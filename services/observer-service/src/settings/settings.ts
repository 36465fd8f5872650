import { flawOfBrokerUrls } from "@unacked/broker";
import { DEFAULT_POOL, ServiceName } from "@unacked/contracts";
import {
  flag,
  oneOf,
  text,
  textList,
  tlsFilesOf,
  tlsFlaws,
  tlsSettings,
  wholeNumber,
  wholeNumberOrAuto,
  withTraits,
} from "@unacked/settings";
import { z } from "zod";
import { MAX_WORKERS } from "../machine/worker-count.ts";
import { checkPermissions, PermittedCommand, PermittedVariable } from "./permissions.ts";
import { flawOfPools, flawOfWorkers } from "./served-pools.ts";

const MAX_SLOTS = 256;

const amqpUrl = text().superRefine((urls, context) => {
  const message = flawOfBrokerUrls(urls);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

const pools = text().superRefine((list, context) => {
  const message = flawOfPools(list);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

const Settings = z.object({
  AMQP_URL: withTraits(
    amqpUrl.describe(
      "The broker: `amqp://user:password@host:5672/vhost`, or `amqps://`; of a cluster each node, separated by commas: where one is lost, the next is tried at once.",
    ),
    {
      secret: true,
      orFile: true,
    },
  ),
  ...tlsSettings("AMQP", "the broker"),
  SERVICE_NAME: ServiceName.optional().describe(
    "The stable name of this service, its own alone; it outlives the process. Not set: the host's name, which is a container's id and a pod's name.",
  ),
  WORKER_COUNT: wholeNumberOrAuto(1, MAX_WORKERS)
    .default("auto")
    .describe(
      "How many observers run here at once, 1–65535, or `auto`: 100 a core, at most what fits into the memory that is free (of its control group first) after 128 MiB, and 32 MiB for each slot and the spare one, at 4 MiB an observer or what they took before. While it runs, `auto` takes no more above 85 % of memory until it is below 70 %.",
    ),
  TASK_WORKERS: wholeNumber(0, MAX_WORKERS)
    .default(10)
    .describe(
      "How many tasks run here at once, beside the observers; `0`: none. Where the folder has no task type, nothing is taken. See [tasks](tasks.md).",
    ),
  OBSERVERS_DIR: text()
    .default("observers")
    .describe("The folder of the observer types and task types: every top-level .ts, .js and .mjs file."),
  POOL: pools
    .default(DEFAULT_POOL)
    .describe(
      "The pool whose work this service takes; or several, each with its workers: `fast:20,default:80`. Each of several is a service of its own in this process, named `SERVICE_NAME:POOL`, with slots of its own.",
    ),
  HEARTBEAT_S: wholeNumber(1, 600)
    .default(10)
    .describe(
      "The broker's heartbeat in seconds; a lower `heartbeat` in rabbitmq.conf (60 by default) is what counts. A silent host's observers stop after 1.5 of them and run elsewhere after 2 to 3.",
    ),
  HOST: text().default("127.0.0.1").describe("The address of the health endpoints."),
  PORT: wholeNumber(0, 65_535).default(8081).describe("The port of the health endpoints; 0: any free one."),
  STOP_TIMEOUT_MS: wholeNumber(100, 3_600_000)
    .default(25_000)
    .describe(
      "How long a handler may take to settle after its abort, in ms; then its slot is ended. At SIGTERM handlers have 3 s less (a quarter less, where that is less), and what has not settled by then ends with its slot, or with `SLOTS=0` with the process. The process takes that long in all; up to 5 s more where the broker, or who collects traces, does not answer.",
    ),
  CHECKPOINT_EVERY_MS: wholeNumber(0, 3_600_000)
    .default(1_000)
    .describe("How often a run may save where it has got to, in ms; of what comes faster the latest is saved."),
  CHECKPOINT_BYTES_PER_S: wholeNumber(1_024, 1_073_741_824)
    .default(1_048_576)
    .describe(
      "How much all runs of this service may save in a second, in bytes; more waits. While the database is away, the state queue grows by as much.",
    ),
  UPDATE_TIMEOUT_MS: wholeNumber(100, 3_600_000)
    .default(10_000)
    .describe(
      "How long the `onUpdate` of an observer's type may take to answer, in ms; then the run begins again with what is wanted of it.",
    ),
  SLOTS: wholeNumberOrAuto(0, MAX_SLOTS)
    .default("auto")
    .describe(
      "How many child processes run the observers' code, or `auto`: one a core that may be used and 128 MiB of memory, at least two. What one observer does to its process costs its neighbours there a restart of milliseconds, and this service nothing. `0`: all of it runs in this process, unprotected. See [isolation](isolation.md).",
    ),
  MAX_SLOTS: wholeNumber(4, 1_000)
    .optional()
    .describe(
      "How many such processes there may be with those for suspects, for observers that were found guilty and the spare one. Not set: `SLOTS` and eight more.",
    ),
  SLOT_MEMORY_MB: wholeNumberOrAuto(32, 1_048_576)
    .default("auto")
    .describe(
      "What one such process may take, in MiB of memory that is its own. In one that takes more, the observers begin again in another; who makes them grow is found and fails its attempts. `auto`: what the machine or container has, less 192 MiB, in equal parts for all and the spare one; at least 96.",
    ),
  STUCK_MS: wholeNumber(0, 3_600_000)
    .default(5_000)
    .describe(
      "How long an observer may block the event loop of its slot, in ms, before that is ended and the observer's attempt fails; `0`: for ever.",
    ),
  SLOT_NODE_OPTIONS: text()
    .optional()
    .describe("NODE_OPTIONS of the slots: a debugger, the size of the heap. Not set: those of this process."),
  WORK_QUEUE_TYPE: oneOf(["classic", "quorum"])
    .default("classic")
    .describe(
      "The type of the durable queues that this program makes: `quorum` for clusters, best of RabbitMQ 4.3 and later. One that is there keeps the type it has.",
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
  PROCESS_ENV: textList(PermittedVariable)
    .optional()
    .describe(
      "The environment variables that the params of `process` observers may set, by name, separated by commas. Not set: none, or any where PROCESS_COMMANDS is `*`. Many a variable makes a program run another (`PS4`, `MAKEFLAGS`, `LESSOPEN`, `HOME`): name those alone whose reader you know.",
    ),
  ALLOW_PRIVATE_ADDRESSES: flag()
    .default(false)
    .describe(
      "Whether `http-poll` and `price-watch` may connect to loopback, private, link-local and other addresses that are not public.",
    ),
  STATE_DIR: text()
    .optional()
    .describe(
      "A folder that outlives the process: what an observer takes here is kept in it, for the next start with `WORKER_COUNT=auto`. Not set: that which systemd gives (`StateDirectory=`), or nothing is kept.",
    ),
  LOG_LEVEL: oneOf(["debug", "info", "warn", "error"]).default("info").describe("The lowest level that is logged."),
});

/** The names of all settings: none of them is passed to the processes that run authors' code. */
export const SETTING_NAMES: readonly string[] = Object.keys(Settings.shape);

/** Every setting of an observer-service: from the environment, or from the file that CONFIG_FILE names. */
export const ServiceSettings = Settings.superRefine(checkPermissions).superRefine((settings, context) => {
  const flaw = flawOfWorkers(settings.POOL, settings.WORKER_COUNT, settings.SERVICE_NAME);
  if (flaw !== undefined) context.addIssue({ code: "custom", path: ["POOL"], message: flaw });
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
