import { setTimeout as sleep } from "node:timers/promises";
import { AmqpSession } from "./amqp-session.ts";
import { type BrokerSettings, checkSettings } from "./broker-settings.ts";
import { NodeRound } from "./broker-urls.ts";
import { ChangeNotice } from "./change-notice.ts";
import type { ConnectionHooks, ConnectionStatus } from "./connection-hooks.ts";
import { ConnectionOwner } from "./connection-owner.ts";
import { LossLog } from "./loss-log.ts";
import { type LossReason, lossReason } from "./loss-reason.ts";
import { openConnection } from "./open-connection.ts";
import { OtherwiseQueues } from "./otherwise-queues.ts";
import { untilAborted, withPatience } from "./patience.ts";
import { ReconnectBackoff } from "./reconnect-backoff.ts";
import { redactUrl } from "./redact-url.ts";
import { type Session, SessionLostError } from "./session.ts";

/** The longest time for `build` as a whole. Each of its requests to the broker has a shorter limit of its own. */
const BUILD_LIMIT_MS = 60_000;
/** The limit for the orderly close of a connection that still stands. */
const CLOSE_LIMIT_MS = 2_000;

/**
 * One supervised connection. Receives whatever closes (the connection, any channel, a consumer). Guarantees: the whole
 * session is lost with it, its owner is told first, then everything is built again, with growing and jittered delays, for
 * ever. A crash in the middle leaves nothing: the broker takes back what was unacked.
 */
export class SupervisedConnection {
  readonly #settings: BrokerSettings;
  readonly #owner: ConnectionOwner;
  readonly #backoff: ReconnectBackoff;
  readonly #closing = new AbortController();
  readonly #changes = new ChangeNotice();
  readonly #losses: LossLog;
  #current: AmqpSession | undefined;
  #supervision: Promise<void> | undefined;
  readonly #nodes: NodeRound;
  /** The node that was tried last. */
  #url = "";
  #generation = 0;
  #up = false;
  #blocked = false;
  #lastLoss: LossReason | undefined;
  readonly #otherwise = new OtherwiseQueues();

  /** Throws a BrokerSettingsError for settings that can never work. */
  constructor(settings: BrokerSettings, hooks: ConnectionHooks) {
    checkSettings(settings);
    this.#settings = settings;
    this.#owner = new ConnectionOwner(hooks, settings);
    this.#backoff = new ReconnectBackoff(settings.reconnect);
    this.#nodes = new NodeRound(settings.url);
    this.#losses = new LossLog(settings.connectionName, settings.log);
  }

  /** Returns at once; goes on until close(). */
  start(): void {
    if (this.#closing.signal.aborted) return;
    this.#supervision ??= this.#supervise();
  }

  /** Undefined unless it is up. */
  get session(): Session | undefined {
    return this.#up ? this.#current : undefined;
  }

  get status(): ConnectionStatus {
    return { up: this.#up, blocked: this.#blocked, generation: this.#generation, lastLoss: this.#lastLoss };
  }

  /** Resolves to the current session, or else to the next. Rejects when closed, or with the signal's reason. */
  async up(signal?: AbortSignal): Promise<Session> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#closing.signal.aborted) throw new SessionLostError(closedByOwner());
      if (this.session !== undefined) return this.session;
      await this.#changes.next(signal);
    }
  }

  /** Ends supervision and closes the connection in order, 2 s at most. Idempotent. */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#closing.abort();
      this.#current?.lose(closedByOwner());
      this.#changes.notify();
    }
    await this.#supervision;
  }

  async #supervise(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const upMs = await this.#liveOnce();
      if (this.#closing.signal.aborted) return;
      await sleep(this.#backoff.nextMs(upMs), undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }

  /** Lives through one connection, from its connect to its loss. Never rejects; resolves to how long it was up, in ms. */
  async #liveOnce(): Promise<number> {
    const session = await this.#connect();
    if (session === undefined) return 0;
    let upSince: number | undefined;
    const built = await this.#build(session);
    if (built && !session.lost.aborted) {
      upSince = performance.now();
      this.#goUp(session);
    }
    await untilAborted(session.lost);
    const upMs = upSince === undefined ? 0 : performance.now() - upSince;
    await this.#letGo(session);
    return upMs;
  }

  async #connect(): Promise<AmqpSession | undefined> {
    const { connectionName, log } = this.#settings;
    const url = this.#nodes.next();
    this.#url = url;
    try {
      const connection = await openConnection({ ...this.#settings, url }, this.#closing.signal);
      this.#generation += 1;
      this.#blocked = false;
      const session: AmqpSession = new AmqpSession(connection, this.#generation, {
        connectionName,
        log,
        otherwise: this.#otherwise,
        onLost: (reason) => this.#onLost(session, reason),
        onExplained: (reason) => this.#onExplained(session, reason),
        onBlocked: (blocked) => this.#onBlocked(session, blocked),
      });
      this.#current = session;
      if (this.#closing.signal.aborted) session.lose(closedByOwner());
      return session;
    } catch (error) {
      if (this.#closing.signal.aborted) return undefined;
      this.#lastLoss = lossReason("connect-failed", error);
      this.#logLoss(this.#lastLoss, { url: redactUrl(url) }, "cannot connect to the broker; trying again");
      return undefined;
    }
  }

  /** Resolves to whether it was built; never rejects. */
  async #build(session: AmqpSession): Promise<boolean> {
    try {
      const building = session.openControlChannel().then(() => this.#owner.build(session));
      await withPatience(building, {
        limitMs: BUILD_LIMIT_MS,
        onLimit: () => new Error(`the set-up took longer than ${BUILD_LIMIT_MS} ms`),
        signal: session.lost,
        onAbort: () => new SessionLostError(session.lost.reason as LossReason),
      });
      return true;
    } catch (error) {
      session.lose(lossReason("setup-failed", error));
      return false;
    }
  }

  #goUp(session: AmqpSession): void {
    const { connectionName, log } = this.#settings;
    const { generation, heartbeatMs, peer } = session;
    session.markSetUp();
    this.#up = true;
    this.#losses.startOver();
    log.info(
      { connection: connectionName, generation, url: redactUrl(this.#url), broker: peer, heartbeatMs },
      "connected to the broker",
    );
    this.#owner.tellUp(generation);
    this.#changes.notify();
  }

  #onLost(session: AmqpSession, reason: LossReason): void {
    this.#up = false;
    this.#blocked = false;
    this.#lastLoss = reason;
    const ended = this.#closing.signal.aborted;
    this.#logLoss(
      reason,
      { generation: session.generation },
      ended ? "closing the broker connection" : "the broker session is lost; building a new one",
    );
    this.#owner.tellLost(session.generation, reason);
  }

  #onExplained(session: AmqpSession, reason: LossReason): void {
    if (this.#current !== session || this.#closing.signal.aborted) return;
    this.#lastLoss = reason;
    this.#logLoss(reason, { generation: session.generation }, "why the broker session was lost");
    this.#owner.tellWhy(session.generation, reason);
  }

  #onBlocked(session: AmqpSession, blocked: boolean): void {
    if (session.lost.aborted) return;
    this.#blocked = blocked;
    const { connectionName, log } = this.#settings;
    log.warn(
      { connection: connectionName, generation: session.generation, blocked },
      blocked ? "the broker blocks publishes: memory or disk alarm" : "the broker accepts publishes again",
    );
    this.#owner.tellBlocked(blocked);
  }

  /** Keeps the connection for as long as the owner asked (see onLost), then closes it. */
  async #letGo(session: AmqpSession): Promise<void> {
    await this.#owner.untilLetGo(session.heartbeatMs, AbortSignal.any([session.disconnected, this.#closing.signal]));
    await session.close(CLOSE_LIMIT_MS);
  }

  #logLoss(reason: LossReason, fields: object, message: string): void {
    this.#losses.tell(reason, this.#backoff.failures + 1, fields, message);
  }
}

function closedByOwner(): LossReason {
  return lossReason("ended-by-owner", "closed");
}
