import { type LossReason, lossReason } from "./loss-reason.ts";
import { withPatience } from "./patience.ts";
import { SessionLostError } from "./session.ts";

/** The shortest limit for the broker's answer to one request; otherwise it is two heartbeats. */
const MIN_REPLY_LIMIT_MS = 5_000;

/** Whether a session is lost, and the wait for the broker's answers, which ends with the session at the latest. */
export class SessionLoss {
  readonly #lost = new AbortController();
  readonly #replyLimitMs: number;
  readonly #onLost: (reason: LossReason) => void;

  /** @param onLost called synchronously, once, after `signal` was aborted */
  constructor(heartbeatMs: number, onLost: (reason: LossReason) => void) {
    this.#replyLimitMs = Math.max(MIN_REPLY_LIMIT_MS, 2 * heartbeatMs);
    this.#onLost = onLost;
  }

  /** Aborted, with the LossReason as its `reason`, the moment the session is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Tells the owner first and closes later, so that the owner hears of it before anything else happens. Only the first
   * reason counts.
   */
  lose(reason: LossReason): void {
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(reason);
    this.#onLost(reason);
  }

  throwIfLost(): void {
    if (this.signal.aborted) throw this.error();
  }

  error(): SessionLostError {
    return new SessionLostError(this.signal.reason as LossReason);
  }

  /**
   * Waits for the answer to a request. It ends with the session at the latest, and an answer that takes too long ends the
   * session.
   */
  async reply<T>(what: string, pending: Promise<T>, limitMs = this.#replyLimitMs): Promise<T> {
    try {
      return await withPatience(pending, {
        limitMs,
        onLimit: () => {
          this.lose(lossReason("connection-closed", `no answer to "${what}" within ${limitMs} ms`));
          return this.error();
        },
        signal: this.signal,
        onAbort: () => this.error(),
      });
    } catch (error) {
      throw this.signal.aborted ? this.error() : error;
    }
  }
}
