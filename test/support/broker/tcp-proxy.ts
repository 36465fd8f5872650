import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Direction, goodWire, held, joinSockets, type Pair } from "./wire.ts";

/** A wire that can be made bad: put it between a client and its server. All of it at once, present and future connections. */
export interface TcpProxy {
  readonly port: number;
  /** How many client connections are open. */
  readonly openConnections: number;
  /** How many were accepted so far. */
  readonly acceptedConnections: number;
  /** Bytes that passed in both directions, over all connections. */
  readonly passedBytes: number;
  /** The same URL, but through this proxy. */
  through(url: string): string;
  /**
   * The connections, present and future, whose client has this text among its first bytes. AMQP clients say there what
   * they are called: a service `<name> consumes` on one and `<name> publishes` on the other.
   */
  only(text: string): PartOfWire;
  /**
   * A partition: nothing passes, no close and no reset either, and nobody is told. As TCP would, it loses nothing: what
   * was sent arrives after heal(), if the connection is still there then.
   */
  blackhole(direction?: Direction): void;
  /** Everything arrives this much later, in order. 0 again: as before. */
  delay(ms: number): void;
  /** Each connection made from now on is late by itself, by what this gives for it, in both directions; on top of `delay`. */
  delayEach(ms: () => number): void;
  /** Resets (RST) all present connections, on both sides, blackhole or not. New ones are welcome. */
  reset(): void;
  /** Each connection made from now on is reset when this many bytes have passed, both directions counted together. */
  resetAfterBytes(bytes: number): void;
  /** Accepts no more; those who try get ECONNREFUSED. Present connections stay. */
  refuse(): Promise<void>;
  /** Ends blackhole, delay, resetAfterBytes and refuse. */
  heal(): Promise<void>;
  /** Also done by itself at the end of the test file. */
  close(): Promise<void>;
}

export interface PartOfWire {
  /** As of the whole wire, until its heal(). */
  blackhole(direction?: Direction): void;
  reset(): void;
  /** Sends this to the server as if the client had sent it. AMQP clients write whole frames, so it comes between two. */
  inject(bytes: Buffer): void;
}

const proxies = new Set<TcpProxy>();

/** At the end of a file. */
export async function closeProxies(): Promise<void> {
  for (const proxy of [...proxies]) await proxy.close();
}

/** Listens on loopback. `target` is a URL with a port, or a port on loopback. */
export async function tcpProxy(target: string | number): Promise<TcpProxy> {
  const upstream =
    typeof target === "number"
      ? { host: "127.0.0.1", port: target }
      : { host: new URL(target).hostname, port: Number(new URL(target).port || 5672) };
  const wire = goodWire();
  const pairs = new Set<Pair>();
  let accepted = 0;
  let passedBytes = 0;
  const accept = (client: Socket) => {
    accepted += 1;
    const pair = joinSockets(client, connect(upstream), wire, {
      onPass: (bytes) => {
        passedBytes += bytes;
      },
      onGone: () => pairs.delete(pair),
    });
    pairs.add(pair);
  };
  let server: Server | undefined = await listen(0, accept);
  const port = (server.address() as { port: number }).port;
  const pumpAll = () => {
    for (const pair of pairs) pair.pump();
  };

  const proxy: TcpProxy = {
    port,
    get openConnections() {
      return pairs.size;
    },
    get acceptedConnections() {
      return accepted;
    },
    get passedBytes() {
      return passedBytes;
    },
    through(url) {
      const changed = new URL(url);
      changed.hostname = "127.0.0.1";
      changed.port = String(port);
      return changed.href;
    },
    only: (text) => {
      const those = () => [...pairs].filter((pair) => pair.openedWith(text));
      return {
        blackhole: (direction = "both") => void wire.heldParts.push({ text, ...held(direction) }),
        reset: () => {
          for (const pair of those()) pair.reset();
        },
        inject: (bytes) => {
          for (const pair of those()) pair.inject(bytes);
        },
      };
    },
    blackhole: (direction = "both") => void Object.assign(wire, held(direction)),
    delay(ms) {
      wire.delayMs = ms;
    },
    delayEach(ms) {
      wire.delayOfNext = ms;
    },
    reset() {
      for (const pair of [...pairs]) pair.reset();
    },
    resetAfterBytes(bytes) {
      wire.resetAfterBytes = bytes;
    },
    async refuse() {
      // A server's close waits for its connections, and those are to stay.
      server?.close();
      server = undefined;
      await untilRefused(port);
    },
    async heal() {
      Object.assign(wire, goodWire());
      server ??= await listen(port, accept);
      pumpAll();
    },
    async close() {
      proxies.delete(proxy);
      server?.close();
      server = undefined;
      for (const pair of [...pairs]) pair.reset();
    },
  };
  proxies.add(proxy);
  return proxy;
}

function listen(port: number, accept: (client: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, accept);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

async function untilRefused(port: number): Promise<void> {
  for (;;) {
    const refused = await new Promise<boolean>((resolve) => {
      const probe = connect(port, "127.0.0.1", () => resolve(false));
      probe.once("error", () => resolve(true));
      probe.once("connect", () => probe.destroy());
    });
    if (refused) return;
    await sleep(5);
  }
}
