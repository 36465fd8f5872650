import type { ServiceId } from "../ids.ts";

/**
 * Names and arguments of everything on the broker, as data. Named exchanges only: write permission on the default
 * exchange is write permission on every queue.
 */
export const EXCHANGES = {
  start: { name: "unacked.start", type: "direct" },
  events: { name: "unacked.events", type: "direct" },
  control: { name: "unacked.control", type: "fanout" },
  service: { name: "unacked.service", type: "direct" },
  errors: { name: "unacked.errors", type: "direct" },
  output: { name: "unacked.output", type: "topic" },
  replies: { name: "unacked.replies", type: "direct" },
  tasks: { name: "unacked.tasks", type: "direct" },
  requests: { name: "unacked.requests", type: "direct" },
  requestReplies: { name: "unacked.request-replies", type: "topic" },
  timers: { name: "unacked.timers", type: "topic" },
} as const;

const OF_CLIENTS: ReadonlySet<string> = new Set(
  [EXCHANGES.output, EXCHANGES.requestReplies, EXCHANGES.timers].map(({ name }) => name),
);
/** Whether its queues are this system's own, which nobody bounds. A healthy broker takes what is published to them. */
export const isOwnExchange = (exchange: string): boolean => !OF_CLIENTS.has(exchange);

export type ExchangeDeclaration = (typeof EXCHANGES)[keyof typeof EXCHANGES];

export interface QueueDeclaration {
  name: string;
  durable: boolean;
  exclusive: boolean;
  arguments: Record<string, unknown>;
  /** The arguments of the other queue type: an existing queue of that type stays so. */
  otherwise?: Record<string, unknown>;
  bindings: { exchange: ExchangeDeclaration; routingKey: string }[];
}

/** Headers of emitted values, beside `v`. */
export const OUTPUT_HEADERS = {
  /** Which run emitted it. */
  runId: "unacked-run-id",
  /** The run's fencing token, if its type asks before it starts. */
  fencingToken: "unacked-fencing-token",
} as const;

export const STATE_QUEUE = "unacked.state";
export const STATE_KEY = "state";
export const TASK_STATE_QUEUE = "unacked.task-state";
export const TASK_STATE_KEY = "task-state";
export const REQUEST_QUEUE = "unacked.request";
/** The routing keys of requests, by what is asked for. The body says which request it is. */
export const REQUEST_KEYS = ["tasks", "timers"] as const;
export const ERROR_QUEUE = "unacked.error";
export const ERROR_KEY = "error";

/** The type of every durable queue. In a cluster a classic one is away while its node is. */
export type QueueType = "classic" | "quorum";

export const workQueueName = (pool: string): string => `unacked.work.${pool}`;

export const taskQueueName = (pool: string): string => `unacked.tasks.${pool}`;

/**
 * No TTL, no max-length, no dead-letter exchange: a mass requeue would expire or overflow live jobs.
 * Quorum queues throw a message away at the 20th redelivery (4.x) and, with a limit of -1, at the first (3.10):
 * only a huge limit is safe on all of them.
 */
const ARGUMENTS: Record<QueueType, Record<string, unknown>> = {
  classic: {},
  quorum: { "x-queue-type": "quorum", "x-delivery-limit": 1_000_000_000 },
};

const typed = (type: QueueType, more: Record<string, unknown> = {}) => ({
  arguments: { ...ARGUMENTS[type], ...more },
  otherwise: { ...ARGUMENTS[type === "quorum" ? "classic" : "quorum"], ...more },
});

export const workQueue = (pool: string, type: QueueType): QueueDeclaration => ({
  name: workQueueName(pool),
  durable: true,
  exclusive: false,
  ...typed(type),
  bindings: [{ exchange: EXCHANGES.start, routingKey: pool }],
});

/**
 * A work queue that somebody deleted is not declared again before those who consumed from it have been told: a channel of RabbitMQ before
 * 4.0 that hears of the end of a queue, and finds one of the same name, consumes from that without a word (rabbit_channel,
 * `handle_consuming_queue_down_or_eol`), and its client goes on with what the broker holds for nobody any more.
 */
export const TOLD_WITHIN_MS = 2_000;

/** The queue for the window of a pool's tasks; as with observers, nothing in it may expire or overflow. */
export const taskQueue = (pool: string, type: QueueType): QueueDeclaration => ({
  name: taskQueueName(pool),
  durable: true,
  exclusive: false,
  ...typed(type),
  bindings: [{ exchange: EXCHANGES.tasks, routingKey: pool }],
});

/** A state queue for tasks alone, so that they do not delay observers. It has a single active consumer, too. */
export const taskStateQueue = (type: QueueType): QueueDeclaration => ({
  name: TASK_STATE_QUEUE,
  durable: true,
  exclusive: false,
  ...typed(type, { "x-single-active-consumer": true }),
  bindings: [{ exchange: EXCHANGES.events, routingKey: TASK_STATE_KEY }],
});

/** Single active consumer: one manager applies the events, another takes over when it is gone. */
export const stateQueue = (type: QueueType): QueueDeclaration => ({
  name: STATE_QUEUE,
  durable: true,
  exclusive: false,
  ...typed(type, { "x-single-active-consumer": true }),
  bindings: [{ exchange: EXCHANGES.events, routingKey: STATE_KEY }],
});

export const errorQueue = (type: QueueType): QueueDeclaration => ({
  name: ERROR_QUEUE,
  durable: true,
  exclusive: false,
  ...typed(type),
  bindings: [{ exchange: EXCHANGES.errors, routingKey: ERROR_KEY }],
});

/**
 * The queue for requests of other programs. It has a single active consumer, so that they are done in the order in which
 * they were published.
 */
export const requestQueue = (type: QueueType): QueueDeclaration => ({
  name: REQUEST_QUEUE,
  durable: true,
  exclusive: false,
  ...typed(type, { "x-single-active-consumer": true }),
  bindings: REQUEST_KEYS.map((routingKey) => ({ exchange: EXCHANGES.requests, routingKey })),
});

/**
 * Identifies one generation of one service: its routing key on `unacked.service`, and its name in proofs of absence of
 * tasks.
 */
export const generationKey = (serviceId: ServiceId, generation: number): string => `${serviceId}.${generation}`;

/** A fresh name per connection: a fixed one gets 405 while the old connection lingers. */
export function controlQueue(serviceId: ServiceId, generation: number): QueueDeclaration {
  return {
    name: `unacked.control.${generationKey(serviceId, generation)}`,
    durable: false,
    exclusive: true,
    arguments: {},
    bindings: [
      { exchange: EXCHANGES.control, routingKey: "" },
      { exchange: EXCHANGES.service, routingKey: generationKey(serviceId, generation) },
    ],
  };
}

/**
 * The routing key of an observer's emitted events on `unacked.output`: `<type>.<name>`, where each dot of the type is a colon. A
 * type has no colons of its own, so the type is always the first word of the key, and no two observers share one.
 */
export const outputKey = (type: string, name: string): string => `${type.replaceAll(".", ":")}.${name}`;

/** The routing key of one connection of one manager on `unacked.replies`. */
export const replyKey = (managerId: string, generation: number): string => `${managerId}.${generation}`;

/**
 * The queue for services' answers to one manager's questions. It goes with the connection, and the answers with it. It has a fresh
 * name per connection.
 */
export function replyQueue(managerId: string, generation: number): QueueDeclaration {
  const key = replyKey(managerId, generation);
  return {
    name: `unacked.replies.${key}`,
    durable: false,
    exclusive: true,
    arguments: {},
    bindings: [{ exchange: EXCHANGES.replies, routingKey: key }],
  };
}
