/**
 * A small client of RabbitMQ's management API, for one vhost.
 *
 * How far it lags behind, in the tests' nodes (elsewhere 5 s each): `ready` and `unacked` about 0.1 s, as they are read from
 * the counters that the queues write themselves; `consumers` and connections up to 1 s, as they come from the plugin's own
 * statistics. So poll with `eventually`, and never conclude from one look that something did not happen. Exact at every
 * moment are only `ready` and `consumers` of a passive declare over AMQP, which this does not do.
 */
export interface Management {
  readonly vhost: string;
  /** Throws if the queue is not there. */
  queue(name: string): Promise<QueueCounts>;
  queues(): Promise<QueueCounts[]>;
  connections(): Promise<ConnectionInfo[]>;
  /** Cuts a connection from the broker's side, as an operator would: the client sees 320 CONNECTION_FORCED. */
  closeConnection(name: string, reason?: string): Promise<void>;
  /** Resolves to whether a queue took it. */
  publish(message: {
    exchange: string;
    routingKey: string;
    body: string | Buffer;
    properties?: Record<string, unknown>;
  }): Promise<boolean>;
  /** Takes messages away (or, with `requeue`, only looks; a look flags them as redelivered). */
  get(queue: string, options?: { count?: number; requeue?: boolean }): Promise<QueuedMessage[]>;
  purge(queue: string): Promise<void>;
  deleteQueue(queue: string): Promise<void>;
  /** Any other call, with a path below `/api`. `{vhost}` in it is replaced. Resolves to the decoded body. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

export interface QueueCounts {
  name: string;
  ready: number;
  unacked: number;
  total: number;
  consumers: number;
  durable: boolean;
  exclusive: boolean;
  arguments: Record<string, unknown>;
}

export interface ConnectionInfo {
  name: string;
  user: string;
  peerPort: number;
  /** `connection_name` that the client gave, "" if none. */
  clientName: string;
}

export interface QueuedMessage {
  exchange: string;
  routingKey: string;
  redelivered: boolean;
  properties: Record<string, unknown>;
  body: Buffer;
}

/** `url` carries user and password. */
export function managementOf(url: string, vhost: string): Management {
  const api = apiOf(url);
  const inVhost = encodeURIComponent(vhost);
  const queuePath = (name: string) => `/queues/${inVhost}/${encodeURIComponent(name)}`;

  async function listQueues(): Promise<QueueCounts[]> {
    // Without the plugin's statistics, with the queues' own counters: 20 ms behind instead of seconds.
    const queues = api("GET", `/queues/${inVhost}?disable_stats=true&enable_queue_totals=true`) as Promise<RawQueue[]>;
    const consumers = (await api("GET", `/consumers/${inVhost}`)) as RawConsumer[];
    return (await queues).map((queue) =>
      queueCounts(queue, consumers.filter((each) => each.queue.name === queue.name).length),
    );
  }

  return {
    vhost,
    queues: listQueues,
    queue: async (name) => {
      const found = (await listQueues()).find((queue) => queue.name === name);
      if (found === undefined) throw new Error(`There is no queue ${name} in vhost ${vhost}.`);
      return found;
    },
    connections: async () => ((await api("GET", `/vhosts/${inVhost}/connections`)) as RawConnection[]).map(connectionInfo),
    closeConnection: async (name, reason = "closed by a test") => {
      await api("DELETE", `/connections/${encodeURIComponent(name)}`, undefined, { "x-reason": reason });
    },
    publish: async ({ exchange, routingKey, body, properties = {} }) => {
      const path = `/exchanges/${inVhost}/${encodeURIComponent(exchange)}/publish`;
      const payload = Buffer.from(body).toString("base64");
      const answer = await api("POST", path, { properties, routing_key: routingKey, payload, payload_encoding: "base64" });
      return (answer as { routed: boolean }).routed;
    },
    get: async (queue, { count = 100, requeue = false } = {}) => {
      const ackmode = requeue ? "ack_requeue_true" : "ack_requeue_false";
      const found = await api("POST", `${queuePath(queue)}/get`, { count, ackmode, encoding: "base64" });
      return (found as RawMessage[]).map(queuedMessage);
    },
    purge: async (queue) => void (await api("DELETE", `${queuePath(queue)}/contents`)),
    deleteQueue: async (queue) => void (await api("DELETE", queuePath(queue))),
    call: (method, path, body) => api(method, path.replaceAll("{vhost}", inVhost), body),
  };
}

/** Makes a vhost that the URL's user may use. */
export async function createVhost(url: string, vhost: string): Promise<void> {
  const api = apiOf(url);
  const user = encodeURIComponent(decodeURIComponent(new URL(url).username));
  await api("PUT", `/vhosts/${encodeURIComponent(vhost)}`);
  await api("PUT", `/permissions/${encodeURIComponent(vhost)}/${user}`, { configure: ".*", write: ".*", read: ".*" });
}

/** Deletes a vhost with everything in it; connections to it are closed. */
export async function deleteVhost(url: string, vhost: string): Promise<void> {
  await apiOf(url)("DELETE", `/vhosts/${encodeURIComponent(vhost)}`);
}

function apiOf(url: string) {
  const { origin, username, password } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`;
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<unknown> => {
    const ask = () =>
      fetch(`${origin}/api${path}`, {
        method,
        headers: { authorization, "content-type": "application/json", ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(60_000),
      });
    // The other side may close a connection that is kept just as it is used again.
    const response = await ask().catch((error: unknown) => {
      if (method === "POST" || !(error instanceof TypeError)) throw error;
      return ask();
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`RabbitMQ management: ${method} ${path} answered ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
}

// The counts are missing until the queue has written them for the first time.
interface RawQueue {
  name: string;
  messages?: number;
  messages_ready?: number;
  messages_unacknowledged?: number;
  durable: boolean;
  exclusive: boolean;
  arguments: Record<string, unknown>;
}

interface RawConsumer {
  queue: { name: string };
}

function queueCounts(raw: RawQueue, consumers: number): QueueCounts {
  const { name, durable, exclusive } = raw;
  const { messages: total = 0, messages_ready: ready = 0, messages_unacknowledged: unacked = 0 } = raw;
  return { name, ready, unacked, total, consumers, durable, exclusive, arguments: raw.arguments };
}

interface RawConnection {
  name: string;
  user: string;
  peer_port: number;
  client_properties?: { connection_name?: string };
}

function connectionInfo(raw: RawConnection): ConnectionInfo {
  return {
    name: raw.name,
    user: raw.user,
    peerPort: raw.peer_port,
    clientName: raw.client_properties?.connection_name ?? "",
  };
}

interface RawMessage {
  exchange: string;
  routing_key: string;
  redelivered: boolean;
  properties: Record<string, unknown> | [];
  payload: string;
  payload_encoding: "base64" | "string";
}

function queuedMessage(raw: RawMessage): QueuedMessage {
  const body = Buffer.from(raw.payload, raw.payload_encoding === "base64" ? "base64" : "utf8");
  // Erlang's empty property list arrives as [].
  const properties = Array.isArray(raw.properties) ? {} : raw.properties;
  return { exchange: raw.exchange, routingKey: raw.routing_key, redelivered: raw.redelivered, properties, body };
}
