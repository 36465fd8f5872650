import type { Socket } from "node:net";

/** As seen from the client. */
export type Direction = "to-server" | "to-client" | "both";

/** How much of a connection's beginning `only` looks at. */
const OPENING_BYTES = 4_096;

/** Of what waits in a blackhole or a delay, per direction; then the sender feels it, as with full socket buffers. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

interface HeldDirections {
  toServerHeld: boolean;
  toClientHeld: boolean;
}

export function held(direction: Direction): HeldDirections {
  return { toServerHeld: direction !== "to-client", toClientHeld: direction !== "to-server" };
}

/** What is wrong just now with all connections of a proxy. */
export interface Wire extends HeldDirections {
  /** Of connections with this text among their first bytes. */
  heldParts: (HeldDirections & { text: string })[];
  delayMs: number;
  /** For a connection that is made now, on top of `delayMs`. */
  delayOfNext: () => number;
  resetAfterBytes: number;
}

/** Nothing is wrong with it. */
export const goodWire = (): Wire => ({
  toServerHeld: false,
  toClientHeld: false,
  heldParts: [],
  delayMs: 0,
  delayOfNext: () => 0,
  resetAfterBytes: Number.POSITIVE_INFINITY,
});

/** A client's connection, and its own to the server. */
export interface Pair {
  /** What waits is looked at again: the wire is another by now. */
  pump(): void;
  reset(): void;
  openedWith(text: string): boolean;
  inject(bytes: Buffer): void;
}

interface PairHooks {
  onPass(bytes: number): void;
  onGone(): void;
}

/** Passes on what either sends, as well as the wire lets it. */
export function joinSockets(client: Socket, server: Socket, wire: Wire, { onPass, onGone }: PairHooks): Pair {
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

type Passed = { kind: "data"; chunk: Buffer } | { kind: "end" } | { kind: "reset" };
type Held = Passed & { atMs: number };

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

  const push = (item: Passed) => {
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
