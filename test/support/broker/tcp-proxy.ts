import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** As seen from the client. */
export type Direction = "to-server" | "to-client" | "both";

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

/** How much of a connection's beginning `only` looks at. */
const OPENING_BYTES = 4_096;

/** Of what waits in a blackhole or a delay, per direction; then the sender feels it, as with full socket buffers. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

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
  const wire: Wire = {
    toServerHeld: false,
    toClientHeld: false,
    heldParts: [],
    delayMs: 0,
    delayOfNext: () => 0,
    resetAfterBytes: Number.POSITIVE_INFINITY,
  };
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
      Object.assign(wire, {
        toServerHeld: false,
        toClientHeld: false,
        heldParts: [],
        delayMs: 0,
        delayOfNext: () => 0,
        resetAfterBytes: Number.POSITIVE_INFINITY,
      });
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

interface HeldDirections {
  toServerHeld: boolean;
  toClientHeld: boolean;
}

function held(direction: Direction): HeldDirections {
  return { toServerHeld: direction !== "to-client", toClientHeld: direction !== "to-server" };
}

interface Wire extends HeldDirections {
  heldParts: (HeldDirections & { text: string })[];
  delayMs: number;
  delayOfNext: () => number;
  resetAfterBytes: number;
}

interface Pair {
  pump(): void;
  reset(): void;
  openedWith(text: string): boolean;
  inject(bytes: Buffer): void;
}

interface PairHooks {
  onPass(bytes: number): void;
  onGone(): void;
}

function joinSockets(client: Socket, server: Socket, wire: Wire, { onPass, onGone }: PairHooks): Pair {
  let passed = 0;
  const limit = wire.resetAfterBytes;
  const ownDelayMs = wire.delayOfNext();
  const delayMs = () => wire.delayMs + ownDelayMs;
  const reset = () => {
    client.resetAndDestroy();
    server.resetAndDestroy();
    onGone();
  };
  const count = (bytes: number) => {
    passed += bytes;
    onPass(bytes);
    if (passed >= limit) reset();
  };
  let opening = "";
  const openedWith = (text: string) => opening.includes(text);
  const isHeld = (way: keyof HeldDirections) =>
    wire[way] || wire.heldParts.some((part) => part[way] && openedWith(part.text));
  // Before the pipe, so that what names the connection is known when it is to pass.
  client.on("data", (chunk: Buffer) => {
    if (opening.length < OPENING_BYTES) opening += chunk.toString("latin1");
  });
  const toServer = pipe(client, server, () => isHeld("toServerHeld"), delayMs, count);
  const toClient = pipe(server, client, () => isHeld("toClientHeld"), delayMs, count);
  for (const socket of [client, server]) {
    socket.setNoDelay(true);
    socket.on("close", () => {
      if (client.destroyed && server.destroyed) onGone();
    });
  }
  return {
    pump() {
      toServer();
      toClient();
    },
    reset,
    openedWith,
    inject: (bytes) => void server.write(bytes),
  };
}

type Held = { atMs: number } & ({ kind: "data"; chunk: Buffer } | { kind: "end" } | { kind: "reset" });

/** Passes on everything, ends and resets included, once the wire lets it. Returns the function that tries again. */
function pipe(
  from: Socket,
  to: Socket,
  isHeld: () => boolean,
  delayMs: () => number,
  onPass: (bytes: number) => void,
): () => void {
  const held: Held[] = [];
  let heldBytes = 0;
  let timer: NodeJS.Timeout | undefined;

  const push = (item: { kind: "data"; chunk: Buffer } | { kind: "end" } | { kind: "reset" }) => {
    held.push({ ...item, atMs: performance.now() + delayMs() });
    if (item.kind === "data" && (heldBytes += item.chunk.length) > MAX_HELD_BYTES) from.pause();
    pump();
  };
  const pump = () => {
    clearTimeout(timer);
    for (let item = held[0]; item !== undefined && !isHeld(); item = held[0]) {
      const waitMs = item.atMs - performance.now();
      if (waitMs > 0) {
        timer = setTimeout(pump, Math.ceil(waitMs));
        return;
      }
      held.shift();
      pass(item);
    }
    if (heldBytes < MAX_HELD_BYTES && from.isPaused()) from.resume();
  };
  const pass = (item: Held) => {
    if (item.kind === "data") heldBytes -= item.chunk.length;
    if (to.destroyed) return;
    if (item.kind === "reset") return void to.resetAndDestroy();
    if (item.kind === "end") return void to.end();
    to.write(item.chunk);
    onPass(item.chunk.length);
  };

  from.on("data", (chunk: Buffer) => push({ kind: "data", chunk }));
  from.on("end", () => push({ kind: "end" }));
  from.on("error", () => push({ kind: "reset" }));
  return pump;
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
