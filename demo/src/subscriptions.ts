import { createTickHistory, type TickHistory } from "./tick-history.ts";

/** What `GET /state` says of a product. The counts begin at 0 with each replay (for products of a recording). */
export type ProductState = {
  readonly lastPrice: string;
  /** Connections subscribed now. */
  readonly connections: number;
  /** The most that were subscribed at once. */
  readonly maxConnections: number;
  /** Ticks that happened, also those that nobody got. */
  readonly ticks: number;
  /** Of these, sent to nobody. */
  readonly ticksToNobody: number;
  /** Of these, sent to two connections or more: somebody watched twice. */
  readonly ticksToSeveral: number;
};

/** What `GET /state` says of a connection; the last 1,000 closed ones are remembered. Times are ms since 1970. */
export type ConnectionState = {
  readonly id: number;
  readonly openedAtMs: number;
  readonly closedAtMs: number | null;
  /** Subscribed now; when closed, what it was subscribed to. */
  readonly products: readonly string[];
  /** Ticks sent per product, the last price on subscribe not counted. */
  readonly ticksSent: Readonly<Record<string, number>>;
};

/** The whole of `GET /state`, but for the replay. */
export type ExchangeState = {
  readonly products: Readonly<Record<string, ProductState>>;
  readonly connections: readonly ConnectionState[];
};

type Product = { -readonly [K in keyof Omit<ProductState, "connections">]: ProductState[K] } & {
  lastSequence: number;
  readonly history: TickHistory;
  readonly subscribers: Set<Connection>;
};

export type Connection = {
  readonly id: number;
  readonly openedAtMs: number;
  closedAtMs: number | null;
  readonly products: Set<string>;
  readonly ticksSent: Map<string, number>;
  readonly send: (json: string) => void;
  /** It stays open, and gets no tick any more. */
  isForgotten: boolean;
};

export type Subscriptions = ReturnType<typeof createSubscriptions>;

const closedConnectionsKept = 1_000;

/** Who is subscribed to what, and the count of what was sent to whom. No sockets and no timers in here. */
export function createSubscriptions() {
  const products = new Map<string, Product>();
  const connections = new Map<number, Connection>();
  const closed: Connection[] = [];
  let lastId = 0;

  const productOf = (name: string): Product => {
    const product = products.get(name);
    if (product === undefined) throw new Error(`there is no product ${name}`);
    return product;
  };

  return {
    addProduct(name: string, lastPrice: string, lastSequence: number): void {
      const history = createTickHistory(lastSequence);
      products.set(name, { lastPrice, lastSequence, history, subscribers: new Set(), ...noCounts });
    },
    isProduct: (name: string): boolean => products.has(name),
    lastOf: (name: string) => ({ price: productOf(name).lastPrice, sequence: productOf(name).lastSequence }),

    /** What somebody missed who has seen this sequence; `undefined`: nobody knows. */
    missedSince: (name: string, sequence: number) => productOf(name).history.after(sequence),

    open(send: (json: string) => void, nowMs: number): Connection {
      const connection: Connection = {
        id: ++lastId,
        openedAtMs: nowMs,
        closedAtMs: null,
        products: new Set(),
        ticksSent: new Map(),
        send,
        isForgotten: false,
      };
      connections.set(connection.id, connection);
      return connection;
    },
    close(connection: Connection, nowMs: number): void {
      connection.closedAtMs = nowMs;
      connections.delete(connection.id);
      for (const name of connection.products) productOf(name).subscribers.delete(connection);
      closed.push(connection);
      if (closed.length > closedConnectionsKept) closed.shift();
    },
    subscribe(connection: Connection, name: string): void {
      const product = productOf(name);
      connection.products.add(name);
      product.subscribers.add(connection);
      product.maxConnections = Math.max(product.maxConnections, product.subscribers.size);
    },
    /** Whoever is connected now gets no tick any more, and no close either; who connects anew does. */
    forgetAll(): void {
      for (const connection of connections.values()) connection.isForgotten = true;
    },
    /** Sends what a new subscriber has missed; counted as what it is sent later. */
    catchUp(connection: Connection, name: string, missed: readonly string[]): void {
      connection.ticksSent.set(name, (connection.ticksSent.get(name) ?? 0) + missed.length);
      for (const json of missed) connection.send(json);
    },
    unsubscribe(connection: Connection, name: string): void {
      connection.products.delete(name);
      productOf(name).subscribers.delete(connection);
    },

    /** Sends a tick to everybody who is subscribed. */
    tick(name: string, price: string, sequence: number, json: string): void {
      const product = productOf(name);
      Object.assign(product, { lastPrice: price, lastSequence: sequence });
      product.history.add(sequence, json);
      product.ticks++;
      if (product.subscribers.size === 0) product.ticksToNobody++;
      if (product.subscribers.size > 1) product.ticksToSeveral++;
      for (const connection of product.subscribers) {
        if (connection.isForgotten) continue;
        connection.ticksSent.set(name, (connection.ticksSent.get(name) ?? 0) + 1);
        connection.send(json);
      }
    },
    /** Counts of these products begin again at 0; so do their counts per connection. */
    resetCounts(names: Iterable<string>): void {
      for (const name of names) {
        const product = productOf(name);
        Object.assign(product, noCounts, { maxConnections: product.subscribers.size });
        for (const connection of [...connections.values(), ...closed]) connection.ticksSent.delete(name);
      }
    },
    /** How many of these products somebody is subscribed to. */
    watched: (names: Iterable<string>): number => [...names].filter((name) => productOf(name).subscribers.size > 0).length,

    state: (): ExchangeState => ({
      products: Object.fromEntries([...products].map(([name, product]) => [name, productState(product)])),
      connections: [...closed, ...connections.values()].map(connectionState),
    }),
  };
}

const noCounts = { maxConnections: 0, ticks: 0, ticksToNobody: 0, ticksToSeveral: 0 };

function productState(product: Product): ProductState {
  const { lastPrice, subscribers, maxConnections, ticks, ticksToNobody, ticksToSeveral } = product;
  return { lastPrice, connections: subscribers.size, maxConnections, ticks, ticksToNobody, ticksToSeveral };
}

function connectionState({ id, openedAtMs, closedAtMs, products, ticksSent }: Connection): ConnectionState {
  return { id, openedAtMs, closedAtMs, products: [...products], ticksSent: Object.fromEntries(ticksSent) };
}
