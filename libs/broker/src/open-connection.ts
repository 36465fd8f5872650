import { readFileSync } from "node:fs";
import type { Writable } from "node:stream";
import { type ChannelModel, connect } from "amqplib";
import type { BrokerSettings } from "./broker-settings.ts";
import { gatherWrites } from "./gather-writes.ts";
import { readNoLongHeaders } from "./long-headers.ts";
import { withPatience } from "./patience.ts";

/** The shortest limit from the first SYN to the end of the AMQP handshake; otherwise it is one heartbeat. */
const MIN_HANDSHAKE_LIMIT_MS = 5_000;

export interface OpenConnection {
  model: ChannelModel;
  /**
   * The heartbeat that both sides agreed to: the lower of ours and the broker's (`heartbeat` of rabbitmq.conf, 60 s; ours if that is
   * 0).
   */
  heartbeatMs: number;
  /** Destroys the socket, whatever state it is in. Idempotent. */
  destroy(): void;
}

/**
 * One attempt to connect. Rejects, with the socket destroyed, when it fails, when it takes longer than a
 * heartbeat (5 s at least) or when `signal` is aborted; a peer that accepts and then says nothing cannot hold it.
 */
export async function openConnection(settings: BrokerSettings, signal: AbortSignal): Promise<OpenConnection> {
  const limitMs = Math.max(MIN_HANDSHAKE_LIMIT_MS, settings.heartbeatS * 1_000);
  const socket = new AbortController();
  const connecting = connect(urlWithHeartbeat(settings), {
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: settings.connectionName },
    ...tlsOptions(settings),
    // The way to the socket: net.connect destroys it when this is aborted.
    signal: socket.signal,
  } as Parameters<typeof connect>[1]);
  try {
    const model = await withPatience(connecting, {
      limitMs,
      onLimit: () => new Error(`no AMQP handshake within ${limitMs} ms`),
      signal,
      onAbort: () => new Error("closed by its owner while connecting"),
    });
    gatherWrites(socketOf(model));
    readNoLongHeaders(model.connection as unknown as Parameters<typeof readNoLongHeaders>[0]);
    return { model, heartbeatMs: agreedHeartbeatS(model) * 1_000, destroy: () => socket.abort() };
  } catch (error) {
    socket.abort();
    throw isVhostRefusal(error)
      ? new Error(`the broker refused to open the vhost '${vhostOf(settings.url)}'`, { cause: error })
      : error;
  }
}

/** The socket, which like the heartbeat is not in amqplib's types. */
function socketOf({ connection }: ChannelModel): Writable {
  return (connection as unknown as { stream: Writable }).stream;
}

/**
 * amqplib keeps the heartbeat where its types do not show it. It is never 0: if one side asks for none, the other side's
 * counts.
 */
function agreedHeartbeatS({ connection }: ChannelModel): number {
  return (connection as unknown as { heartbeat: number }).heartbeat;
}

/** Reads the files at each connect, as a certificate is renewed long before a program is restarted. */
function tlsOptions({ url, tls = {} }: BrokerSettings): object {
  if (new URL(url).protocol !== "amqps:") return {};
  const content = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file));
  return {
    ca: content(tls.caFile),
    cert: content(tls.certFile),
    key: content(tls.keyFile),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
  };
}

/** amqplib drops the broker's words (530 NOT_ALLOWED …) when it refuses the last step of the handshake. */
function isVhostRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.includes("Expected ConnectionOpenOk; got <ConnectionClose");
}

function vhostOf(url: string): string {
  const path = new URL(url).pathname.slice(1);
  return path === "" ? "/" : decodeURIComponent(path);
}

/** The URL's own query (frameMax, channelMax, locale) stays; the heartbeat is ours. */
function urlWithHeartbeat({ url, heartbeatS }: BrokerSettings): string {
  const target = new URL(url);
  target.searchParams.set("heartbeat", String(heartbeatS));
  return target.href;
}
