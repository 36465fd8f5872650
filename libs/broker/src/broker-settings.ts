import { brokerUrls } from "./broker-urls.ts";

/** The signature of every log: (fields, message), like pino. */
export interface BrokerLog {
  info(fields: object, msg: string): void;
  warn(fields: object, msg: string): void;
  error(fields: object, msg: string): void;
}

export interface BrokerSettings {
  /** `amqp://` or `amqps://`, the vhost in its path (none means `/`); of several nodes of one broker, with commas between. Never logged with its password. */
  url: string;
  /**
   * Files (PEM) for `amqps://`, read at each connect. Without them the broker's certificate is checked against Node's own CAs.
   */
  tls?: BrokerTls;
  /** The connection's name, shown by the broker's management. */
  connectionName: string;
  /**
   * Whole seconds, at least 1. Either side gives the other up after two to three of them in silence. The broker may agree to
   * less (`heartbeat` of rabbitmq.conf, 60 by default): what counts is `Session.heartbeatMs`.
   */
  heartbeatS: number;
  log: BrokerLog;
  /** How long to wait before connecting again; for tests. Default: 50 ms doubling to 1 s, from the start after 10 s up. */
  reconnect?: ReconnectDelays;
}

export interface BrokerTls {
  caFile?: string | undefined;
  /** The client's own certificate, and its key. */
  certFile?: string | undefined;
  keyFile?: string | undefined;
  /** The name that the broker's certificate has to bear, if not the host of its URL. */
  serverName?: string | undefined;
}

export interface ReconnectDelays {
  initialMs: number;
  maxMs: number;
  /** A session that was up this long was a good one: the next delay is the first again. */
  resetAfterMs: number;
}

/** A setting or an argument that can never work. Thrown at once, to the caller: trying again would not help. */
export class BrokerSettingsError extends Error {
  readonly code = "invalid-broker-settings";
  override readonly name = "BrokerSettingsError";
}

function isBrokerUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  return (protocol === "amqp:" || protocol === "amqps:") && host !== "" && !host.includes(",");
}

/** What is wrong with such a text. Undefined means nothing. */
export function flawOfBrokerUrls(text: string): string | undefined {
  const urls = brokerUrls(text);
  if (!urls.every(isBrokerUrl))
    return "must look like amqp://user:password@host:5672/vhost (or amqps://), or several of these with commas between";
  const kinds = new Set(urls.map((url) => new URL(url)).map(({ protocol, pathname }) => `${protocol} ${pathname || "/"}`));
  return kinds.size > 1
    ? "names nodes of one broker: all have to be amqp:// or all amqps://, with the same vhost"
    : undefined;
}

/** Throws a BrokerSettingsError that names the wrong setting. */
export function checkSettings({ url, heartbeatS }: Pick<BrokerSettings, "url" | "heartbeatS">): void {
  const flaw = flawOfBrokerUrls(url);
  if (flaw !== undefined) throw new BrokerSettingsError(`The broker's URL ${flaw}.`);
  if (!Number.isInteger(heartbeatS) || heartbeatS < 1 || heartbeatS > 65_535) {
    throw new BrokerSettingsError(`The heartbeat must be a whole number of seconds from 1 to 65535, not ${heartbeatS}.`);
  }
}
