import type { BrokerLog, BrokerSettings } from "./broker-settings.ts";
import type { ConnectionHooks } from "./connection-hooks.ts";
import type { LossReason } from "./loss-reason.ts";
import { withPatience } from "./patience.ts";
import type { Session } from "./session.ts";

/** Tells the owner of a connection what becomes of it. Whatever its hooks throw is logged and harms nothing; only `build` rejects. */
export class ConnectionOwner {
  readonly #hooks: ConnectionHooks;
  readonly #connection: string;
  readonly #log: BrokerLog;
  /** For as long as the owner of a lost session holds it (see onLost). */
  #hold: Promise<void> = Promise.resolve();

  constructor(hooks: ConnectionHooks, { connectionName, log }: Pick<BrokerSettings, "connectionName" | "log">) {
    this.#hooks = hooks;
    this.#connection = connectionName;
    this.#log = log;
  }

  build(session: Session): Promise<void> {
    return this.#hooks.build(session);
  }

  tellUp(generation: number): void {
    this.#guard("onUp", () => this.#hooks.onUp?.(generation));
  }

  tellBlocked(blocked: boolean): void {
    this.#guard("onBlocked", () => this.#hooks.onBlocked?.(blocked));
  }

  tellLost(generation: number, reason: LossReason): void {
    this.#hold = Promise.resolve();
    this.#guard("onLost", () => {
      const hold = this.#hooks.onLost?.(generation, reason);
      if (hold !== undefined) this.#hold = hold.catch((error: unknown) => this.#logThrown("onLost", error));
    });
  }

  tellWhy(generation: number, reason: LossReason): void {
    this.#guard("onLossExplained", () => this.#hooks.onLossExplained?.(generation, reason));
  }

  /** Resolves when it holds the lost session no more, after one heartbeat at most, or when there is nothing to hold: `noMore`. */
  async untilLetGo(heartbeatMs: number, noMore: AbortSignal): Promise<void> {
    try {
      await withPatience(this.#hold, {
        limitMs: heartbeatMs,
        onLimit: () => new Error("the owner of a lost session took longer than one heartbeat to let go of it"),
        signal: noMore,
        onAbort: () => new Error("there is nothing to hold any more"),
      });
    } catch (error) {
      if (!noMore.aborted) this.#log.warn({ connection: this.#connection, err: error }, "onLost is no longer awaited");
    }
  }

  #guard(hook: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#logThrown(hook, error);
    }
  }

  #logThrown(hook: string, error: unknown): void {
    this.#log.error({ connection: this.#connection, err: error }, `${hook} threw`);
  }
}
