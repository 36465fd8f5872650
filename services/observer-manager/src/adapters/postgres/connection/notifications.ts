import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "@unacked/contracts";
import type { Wakeups } from "../../../operations/changes/change-log.ts";
import type { Log } from "../../../operations/log.ts";
import { Loop } from "../../../operations/loop.ts";
import { describeDatabaseError } from "./database-error.ts";
import type { Primary } from "./primary.ts";
import { PrimaryClient } from "./primary-pool.ts";

/**
 * Every transaction that changes what clients see sends `NOTIFY unacked_changes`, one that writes a command
 * `NOTIFY unacked_commands`; `unacked_create_task` sends `unacked_tasks`, and a timer
 * that is earlier than all others `unacked_timers`. All without a payload.
 */
export type Channel = "unacked_changes" | "unacked_commands" | "unacked_tasks" | "unacked_timers";

const RETRIES = { firstMs: 100, maxMs: 5_000 };
const CONNECT_TIMEOUT_MS = 5_000;
const END_WITHIN_MS = 1_000;

/**
 * Listens on one connection of its own, for ever. What was notified while it was away is lost, so it also wakes when it is back.
 * A connection that is dead without anybody saying so is found by TCP keepalive; meanwhile the hub's backstop does the work.
 */
export class Notifications {
  readonly #primary: Primary;
  readonly #log: Log;
  readonly #listeners = new Map<Channel, (() => void)[]>();
  readonly #connectedListeners: (() => void)[] = [];
  readonly #loop = new Loop({ round: () => this.#round(), failed: () => RETRIES.maxMs });
  #failures = 0;
  #endRound: () => void = () => undefined;

  constructor(primary: Primary, log: Log) {
    this.#primary = primary;
    this.#log = log;
    // Else we would listen for ever to a server that has frozen, or was parted from us.
    primary.onMoved(() => this.#endRound());
  }

  of(channel: Channel): Wakeups {
    const listeners = this.#listeners.get(channel) ?? [];
    this.#listeners.set(channel, listeners);
    return { onWake: (listener) => void listeners.push(listener) };
  }

  /** The listener is told each time that listening begins: at first, and later maybe to another database. */
  onConnected(listener: () => void): void {
    this.#connectedListeners.push(listener);
  }

  /** Returns at once. */
  start(): void {
    this.#loop.start();
  }

  /** Idempotent. */
  close(): Promise<void> {
    return this.#loop.end();
  }

  async #round(): Promise<number> {
    this.#failures = (await this.#listenOnce()) ? 0 : this.#failures + 1;
    return backoffMs(RETRIES, this.#failures);
  }

  /** One connection from its beginning to its end. True when it had come so far as to listen. */
  async #listenOnce(): Promise<boolean> {
    const { promise: ended, resolve: end } = deferred();
    const { signal } = this.#loop;
    signal.addEventListener("abort", end);
    this.#endRound = end;
    let client: PrimaryClient | undefined;
    let listening = false;
    try {
      await Promise.race([this.#primary.find(), ended]);
      if (signal.aborted) return false;
      client = this.#newClient(end);
      // pg's connect() never settles when end() comes in the middle of it: hence the race, and closing ends it too.
      await Promise.race([client.connect(), ended]);
      if (signal.aborted) return false;
      client.on("notification", ({ channel }) => this.#wake(channel as Channel));
      for (const channel of this.#listeners.keys()) await client.query(`LISTEN ${channel}`);
      listening = true;
      for (const listener of this.#connectedListeners) listener();
      for (const channel of this.#listeners.keys()) this.#wake(channel);
      await ended;
    } catch (error) {
      if (!signal.aborted) this.#log.warn(describeDatabaseError(error).fields, "cannot listen for notifications");
    } finally {
      signal.removeEventListener("abort", end);
      await Promise.race([client?.end().catch(() => undefined), sleep(END_WITHIN_MS)]); // whatever is left of it
    }
    return listening;
  }

  #newClient(end: () => void): PrimaryClient {
    const client = new PrimaryClient({
      primary: this.#primary,
      application_name: "unacked-manager-listener",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    });
    client.once("end", end);
    client.on("error", (error) => {
      this.#log.warn(describeDatabaseError(error).fields, "the connection that listens for notifications was lost");
      end();
    });
    return client;
  }

  #wake(channel: Channel): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener();
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}
