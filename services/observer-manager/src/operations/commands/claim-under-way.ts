import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../log.ts";
import type { Tally } from "../tally.ts";
import { Together } from "../together.ts";
import { ClaimRenewal } from "./claim-renewal.ts";
import {
  CLAIM_HOLDS_MS,
  type CommandSender,
  type CommandStore,
  type DueCommand,
  type SendOutcome,
  type Settled,
} from "./command-store.ts";
import { FAILED_PAUSE_MS, isWanted, settlementOf } from "./settlement.ts";

/** So many commands are claimed at once, and so many claims are under way at a time. */
export const CLAIM_LIMIT = 2_000;
export const CLAIMS_AT_ONCE = 2;

export interface SendingParts {
  store: CommandStore;
  sender: CommandSender;
  log: Log;
  tally: Tally;
  /** Once it is aborted, what was sent and cannot be written down is no longer tried. */
  signal: AbortSignal;
}

/**
 * Commands that one claim holds, from when they are to be sent until it is written down what became of them: renewed for as long as the
 * broker takes to confirm them, and settled together with what else is confirmed meanwhile. No call rejects: whatever fails is sent again.
 */
export class ClaimUnderWay {
  readonly #id: string;
  readonly #parts: SendingParts;
  readonly #renewal = new ClaimRenewal((due) => this.#renew(due));
  readonly #settlement: Together<Settled[], void>;

  /** @param maxSettled so many are settled by one statement of each kind */
  constructor(id: string, maxSettled: number, parts: SendingParts) {
    this.#id = id;
    this.#parts = parts;
    this.#settlement = new Together({
      maxSize: maxSettled,
      sizeOf: (settled) => settled.length,
      run: (all) => this.#write(all),
    });
  }

  /**
   * Sends them when it is their `turn`, and settles them.
   * @param confirmed called before they are settled, when the broker has answered for all
   */
  async send(
    due: DueCommand[],
    confirmed: (outcomes: ReadonlyMap<string, SendOutcome>) => void,
    turn?: Promise<void>,
  ): Promise<Settled[]> {
    const release = this.#renewal.hold(due);
    await turn;
    const outcomes = await this.#send(due);
    confirmed(outcomes);
    await release();
    const settled = settlementOf(due, outcomes);
    await this.settle(settled);
    return settled;
  }

  async settle(settled: Settled[]): Promise<void> {
    if (settled.length > 0) await this.#settlement.do(settled);
  }

  async #send(due: DueCommand[]): Promise<Map<string, SendOutcome>> {
    const { sender, log, tally } = this.#parts;
    const toSend = due.filter(isWanted);
    const outcomes = await sender.send(toSend).catch((error: unknown): SendOutcome[] => {
      log.error({ err: error }, "dispatcher: commands could not be sent because of a bug in the manager");
      return [];
    });
    const outcomeOf = new Map(toSend.map((command, i) => [command.id, outcomes[i] ?? "failed"]));
    for (const { id, kind } of toSend) tally.sent(kind, outcomeOf.get(id) ?? "failed");
    return outcomeOf;
  }

  async #renew(due: DueCommand[]): Promise<void> {
    try {
      await this.#parts.store.renew({ id: this.#id, due }, CLAIM_HOLDS_MS);
    } catch (error) {
      this.#parts.log.warn({ err: error }, "dispatcher: a claim could not be renewed; another manager may send the same");
    }
  }

  /** Tries until the database has taken it: what went out and is not written down is sent again. */
  async #write(all: Settled[][]): Promise<void[]> {
    const { store, log, signal } = this.#parts;
    const settled = all.flat();
    for (;;) {
      try {
        await store.settle({ id: this.#id }, settled);
        break;
      } catch (error) {
        log.warn({ err: error }, "dispatcher: what was sent could not be recorded");
        if (signal.aborted) break;
        await delay(FAILED_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return all.map(() => undefined);
  }
}
