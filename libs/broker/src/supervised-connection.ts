import { setTimeout as sleep } from "node:timers/promises";
import { AmqpSession } from "./amqp-session.ts";
import { type BrokerSettings, checkSettings } from "./broker-settings.ts";
import { NodeRound } from "./broker-urls.ts";
import { ChangeNotice } from "./change-notice.ts";
import { type LossReason, lossReason } from "./loss-reason.ts";
import { openConnection } from "./open-connection.ts";
import { untilAborted, withPatience } from "./patience.ts";
import { ReconnectBackoff } from "./reconnect-backoff.ts";
import { redactUrl } from "./redact-url.ts";
import { type Session, SessionLostError } from "./session.ts";

/** The longest time for `build` as a whole. Each of its requests to the broker has a shorter limit of its own. */
const BUILD_LIMIT_MS = 60_000;
/** The limit for the orderly close of a connection that still stands. */
const CLOSE_LIMIT_MS = 2_000;
/** For how many causes the time of their last line is kept: no broker has so many. */
const MOST_CAUSES = 100;
/** A cause that goes on is logged at least this often. */
const MINUTE_MS = 60_000;

export interface ConnectionHooks {
  /**
   * Runs on each new connection. If it throws (or takes 60 s), that is `setup-failed`: the connection is torn down, and
   * after a delay there is another. If the session is lost meanwhile, whatever the build still asks of it rejects, and the
   * build of the next one does not wait for it.
   */
  build(session: Session): Promise<void>;
  /**
   * Called synchronously, once for each generation that connected, before anything is closed or rebuilt. If it returns a
   * promise and the connection still stands (a channel closed alone, a cancelled consumer, `end`), the connection is kept
   * until that settles, one heartbeat at most: until then the broker gives none of its messages to others.
   */
  onLost?(generation: number, reason: LossReason): void | Promise<void>;
  /** Called when more is known about the last loss, before the next build. */
  onLossExplained?(generation: number, reason: LossReason): void;
  /** The build is done. */
  onUp?(generation: number): void;
  /** The broker blocks what this connection publishes (memory or disk alarm), or no longer does. */
  onBlocked?(blocked: boolean): void;
}

export interface ConnectionStatus {
  /** Connected and built. */
  up: boolean;
  /** The broker told this connection that it takes no publishes. It tells only a connection that has tried to publish. */
  blocked: boolean;
  /** 0 before the first connect. */
  generation: number;
  lastLoss?: LossReason;
}

/**
 * One supervised connection. Receives whatever closes (the connection, any channel, a consumer). Guarantees: the whole
 * session is lost with it, its owner is told first, then everything is built again, with growing and jittered delays, for
 * ever. A crash in the middle leaves nothing: the broker takes back what was unacked.
 */
export class SupervisedConnection {
  readonly #settings: BrokerSettings;
  readonly #hooks: ConnectionHooks;
  readonly #backoff: ReconnectBackoff;
  readonly #closing = new AbortController();
  readonly #changes = new ChangeNotice();
  #current: AmqpSession | undefined;
  #supervision: Promise<void> | undefined;
  readonly #nodes: NodeRound;
  /** The node that was tried last. */
  #url = "";
  #generation = 0;
  #up = false;
  #blocked = false;
  #lastLoss: LossReason | undefined;
  readonly #otherwise = new Set<string>();
  #hold: Promise<void> = Promise.resolve();
  /** The causes that were logged since it was up, and when last. In a cluster each node has a cause of its own. */
  readonly #told = new Map<string, number>();

  /** Throws a BrokerSettingsError for settings that can never work. */
  constructor(settings: BrokerSettings, hooks: ConnectionHooks) {
    checkSettings(settings);
    this.#settings = settings;
    this.#hooks = hooks;
    this.#backoff = new ReconnectBackoff(settings.reconnect);
    this.#nodes = new NodeRound(settings.url);
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
      const building = session.openControlChannel().then(() => this.#hooks.build(session));
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
    this.#told.clear();
    log.info(
      { connection: connectionName, generation, url: redactUrl(this.#url), broker: peer, heartbeatMs },
      "connected to the broker",
    );
    this.#guard("onUp", () => this.#hooks.onUp?.(session.generation));
    this.#changes.notify();
  }

  #onLost(session: AmqpSession, reason: LossReason): void {
    this.#up = false;
    this.#blocked = false;
    this.#lastLoss = reason;
    this.#hold = Promise.resolve();
    const ended = this.#closing.signal.aborted;
    this.#logLoss(
      reason,
      { generation: session.generation },
      ended ? "closing the broker connection" : "the broker session is lost; building a new one",
    );
    this.#guard("onLost", () => {
      const hold = this.#hooks.onLost?.(session.generation, reason);
      if (hold !== undefined) this.#hold = hold.catch((error: unknown) => this.#logThrown("onLost", error));
    });
  }

  #onExplained(session: AmqpSession, reason: LossReason): void {
    if (this.#current !== session || this.#closing.signal.aborted) return;
    this.#lastLoss = reason;
    this.#logLoss(reason, { generation: session.generation }, "why the broker session was lost");
    this.#guard("onLossExplained", () => this.#hooks.onLossExplained?.(session.generation, reason));
  }

  #onBlocked(session: AmqpSession, blocked: boolean): void {
    if (session.lost.aborted) return;
    this.#blocked = blocked;
    const { connectionName, log } = this.#settings;
    log.warn(
      { connection: connectionName, generation: session.generation, blocked },
      blocked ? "the broker blocks publishes: memory or disk alarm" : "the broker accepts publishes again",
    );
    this.#guard("onBlocked", () => this.#hooks.onBlocked?.(blocked));
  }

  /** Keeps the connection for as long as the owner asked (see onLost), then closes it. */
  async #letGo(session: AmqpSession): Promise<void> {
    const noMore = AbortSignal.any([session.disconnected, this.#closing.signal]);
    try {
      await withPatience(this.#hold, {
        limitMs: session.heartbeatMs,
        onLimit: () => new Error("the owner of a lost session took longer than one heartbeat to let go of it"),
        signal: noMore,
        onAbort: () => new Error("there is nothing to hold any more"),
      });
    } catch (error) {
      if (!noMore.aborted)
        this.#settings.log.warn({ connection: this.#settings.connectionName, err: error }, "onLost is no longer awaited");
    }
    await session.close(CLOSE_LIMIT_MS);
  }

  /**
   * Logs a repeated cause the 1st, 2nd, 4th, 8th … time, and each minute: a broker that is away for a day must not fill the disk, and
   * the last line about it must not name a cause that is over.
   */
  #logLoss(reason: LossReason, fields: object, message: string): void {
    const failures = this.#backoff.failures + 1;
    const isPowerOfTwo = (failures & (failures - 1)) === 0;
    const nowMs = performance.now();
    const toldAtMs = this.#told.get(reason.detail) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - toldAtMs < MINUTE_MS && !isPowerOfTwo) return;
    if (this.#told.size >= MOST_CAUSES) this.#told.clear();
    this.#told.set(reason.detail, nowMs);
    const { connectionName, log } = this.#settings;
    const level = reason.kind === "ended-by-owner" ? "info" : reason.remedy === undefined ? "warn" : "error";
    log[level]({ connection: connectionName, ...fields, ...reason, failures }, message);
  }

  #guard(hook: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#logThrown(hook, error);
    }
  }

  #logThrown(hook: string, error: unknown): void {
    this.#settings.log.error({ connection: this.#settings.connectionName, err: error }, `${hook} threw`);
  }
}

function closedByOwner(): LossReason {
  return lossReason("ended-by-owner", "closed");
}
