import { randomUUID } from "node:crypto";
import { Publisher, SupervisedConnection } from "@unacked/broker";
import {
  type ControlMessage,
  DEFAULT_RETRY,
  ERROR_QUEUE,
  ErrorReport,
  EventBatch,
  EXCHANGES,
  errorQueue,
  generationKey,
  LogReply,
  newMessageId,
  newObserverId,
  type ReadLogs,
  replyKey,
  replyQueue,
  type ServiceEvent,
  STATE_QUEUE,
  type StartObserver,
  stateQueue,
  workQueue,
} from "@unacked/contracts";
import type { Rabbitmq } from "../../../scripts/servers/rabbitmq.mjs";
import { eventually } from "../eventually.ts";
import { type RunningProcess, startProcess } from "../processes/processes.ts";
import { OBSERVERS_DIR } from "../runs/observers-dir.ts";
import { type FreshVhost, freshVhost } from "../servers/servers.ts";

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface ServiceOptions {
  name?: string;
  workers?: number;
  env?: Record<string, string | undefined>;
  amqpUrl?: string;
}

/** Starts the built observer-service with the tests' own observers, heartbeat 4 s, health on any free port. */
export function startObserverService(
  amqpUrl: string,
  { name = "service-1", workers = 10, env = {} }: ServiceOptions = {},
): RunningProcess {
  return startProcess({
    file: "services/observer-service/bundle/main.js",
    name,
    env: {
      AMQP_URL: amqpUrl,
      SERVICE_NAME: name,
      WORKER_COUNT: String(workers),
      OBSERVERS_DIR,
      HEARTBEAT_S: "4",
      PORT: "0",
      ...env,
    },
  });
}

export type LogQuestion = Pick<ReadLogs, "observerId" | "runId"> & Partial<Pick<ReadLogs, "afterSeq" | "limit">>;

/** What a manager does on the broker, by hand: sends starts and control messages, admits what it has started, and reads the state and error queues. */
export interface StandIn extends FreshVhost {
  /** Every batch so far, decoded, in the order of the queue. */
  readonly batches: EventBatch[];
  readonly reports: ErrorReport[];
  /** Every event so far, in order. */
  events(): ServiceEvent[];
  start(start?: Partial<StartObserver>): Promise<StartObserver>;
  sendRaw(body: unknown, messageId?: string): Promise<void>;
  /** To all services, or to one generation of one. */
  control(message: ControlMessage | Buffer, to?: string): Promise<void>;
  /** What one generation of a service answers about the lines of a run; rejects when nothing comes within `withinMs`. */
  readLogs(to: string, question: LogQuestion, withinMs?: number): Promise<LogReply>;
  /** The first event of this kind for which the predicate holds, already there or still to come. */
  waitFor<K extends ServiceEvent["kind"]>(
    kind: K,
    matches?: (event: Extract<ServiceEvent, { kind: K }>) => boolean,
    timeoutMs?: number,
  ): Promise<Extract<ServiceEvent, { kind: K }>>;
  close(): Promise<void>;
}

export function startMessage(fields: Partial<StartObserver> = {}): StartObserver {
  const observerId = fields.observerId ?? newObserverId();
  return {
    observerId,
    revision: 1,
    messageId: newMessageId(),
    name: `stamp-${observerId}`,
    type: "stamp",
    params: {},
    labels: {},
    retry: DEFAULT_RETRY,
    pool: "default",
    createdAt: new Date().toISOString(),
    ...fields,
  };
}

/** A fresh vhost, on the run's broker if not on this one, with a stand-in for the manager on it. Close it. */
export async function standIn(broker?: Rabbitmq): Promise<StandIn> {
  const vhost = await freshVhost(broker);
  const batches: EventBatch[] = [];
  const reports: ErrorReport[] = [];
  const replies: LogReply[] = [];
  let replyTo = "";
  const settings = { url: vhost.amqpUrl, connectionName: "stand-in", heartbeatS: 10, log: SILENT };
  const publisher = new Publisher(settings, {
    declare: async (session) => {
      for (const exchange of Object.values(EXCHANGES)) await session.declareExchange(exchange);
      await session.declare(workQueue("default", "classic"));
    },
  });
  const consumer = new SupervisedConnection(settings, {
    build: async (session) => {
      await session.declare(stateQueue("classic"));
      await session.declare(errorQueue("classic"));
      await session.consume(STATE_QUEUE, { prefetch: 100 }, (delivery) => {
        const batch = EventBatch.parse(JSON.parse(delivery.body.toString()));
        batches.push(batch);
        delivery.settle("ack");
        void admitThoseOf(batch);
      });
      await session.consume(ERROR_QUEUE, { prefetch: 100 }, (delivery) => {
        reports.push(ErrorReport.parse(JSON.parse(delivery.body.toString())));
        delivery.settle("ack");
      });
      replyTo = replyKey("stand-in", session.generation);
      await session.declare(replyQueue("stand-in", session.generation));
      await session.consume(`unacked.replies.${replyTo}`, { prefetch: 100, noAck: true }, ({ body }) => {
        replies.push(LogReply.parse(JSON.parse(body.toString())));
      });
    },
  });
  const started = new Map<string, StartObserver>();
  /** Runs of what it has started itself. */
  const admitThoseOf = async ({ serviceId, generation, events }: EventBatch) => {
    const targets = events.flatMap((event) => {
      const start = event.kind === "RunRequested" ? started.get(event.messageId) : undefined;
      if (event.kind !== "RunRequested" || start === undefined) return [];
      const { observerId, runId, messageId, revision } = event;
      const { params, labels, retry, silence = null } = start;
      return [
        {
          observerId,
          runId,
          messageId,
          revision,
          fencingToken: Date.now(),
          spec: { params, labels, retry, silence, specVersion: 1 },
        },
      ];
    });
    if (targets.length === 0) return;
    await publish(EXCHANGES.service.name, generationKey(serviceId, generation), "Control", { kind: "Admit", targets });
  };
  publisher.start();
  consumer.start();
  await Promise.all([publisher.writable(), consumer.up()]);

  const events = (): ServiceEvent[] => batches.flatMap((batch) => batch.events);
  const publish = (
    exchange: string,
    routingKey: string,
    type: string,
    body: unknown,
    messageId = newMessageId() as string,
  ) => publisher.publish({ exchange, routingKey, type, messageId, appId: "stand-in", body });

  return {
    ...vhost,
    batches,
    reports,
    events,
    close: async () => void (await Promise.all([publisher.close(), consumer.close()])),
    start: async (fields = {}) => {
      const message = startMessage(fields);
      started.set(message.messageId, message);
      await publish(EXCHANGES.start.name, message.pool, "StartObserver", message, message.messageId);
      return message;
    },
    sendRaw: (body, messageId) => publish(EXCHANGES.start.name, "default", "StartObserver", body, messageId),
    control: (message, to) =>
      publish(to === undefined ? EXCHANGES.control.name : EXCHANGES.service.name, to ?? "", "Control", message),
    readLogs: async (to, question, withinMs = 10_000) => {
      const requestId = randomUUID();
      const request: ReadLogs = { kind: "ReadLogs", requestId, replyTo, afterSeq: 0, limit: 1_000, ...question };
      await publish(EXCHANGES.service.name, to, "ReadLogs", request);
      return eventually(
        () => {
          const reply = replies.find((one) => one.requestId === requestId);
          if (reply === undefined) throw new Error("no reply");
          return reply;
        },
        { timeoutMs: withinMs, what: "a reply about log lines" },
      );
    },
    waitFor: (kind, matches = () => true, timeoutMs = 10_000) =>
      eventually(
        () => {
          const found = events().find(
            (event) => event.kind === kind && matches(event as Extract<ServiceEvent, { kind: typeof kind }>),
          );
          if (found === undefined)
            throw new Error(
              `${batches.length} batches, the last events: ${events()
                .slice(-10)
                .map((event) => JSON.stringify(event))
                .join("\n")}`,
            );
          return found as Extract<ServiceEvent, { kind: typeof kind }>;
        },
        { timeoutMs, what: `a ${kind}` },
      ),
  };
}
