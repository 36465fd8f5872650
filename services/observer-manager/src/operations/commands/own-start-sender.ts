import { MAX_BULK, newClaimId } from "@unacked/contracts";
import { CLAIM_LIMIT, CLAIMS_AT_ONCE, ClaimUnderWay, type SendingParts } from "./claim-under-way.ts";
import type { DueCommand } from "./command-store.ts";
import type { OwnStart, OwnStarts } from "./own-starts.ts";
import { sizeOfStart } from "./starts-under-way.ts";

/**
 * More own starts than this are left to be claimed: a large batch fits, and what comes beside it; of those with long params, as many as of
 * those that are claimed. While a queue has lost its majority nothing of them is confirmed: 12,000 of 256 KiB were 3 GB.
 */
const MAX_OWN = MAX_BULK + CLAIM_LIMIT;
const MAX_OWN_BEYOND = CLAIM_LIMIT * CLAIMS_AT_ONCE;

/** Sends starts that were written as claimed by this manager, all under one claim: nobody claims under it again. */
export class OwnStartSender implements OwnStarts {
  readonly #parts: SendingParts;
  readonly #wake: () => void;
  readonly #claimId = newClaimId();
  readonly #claim: ClaimUnderWay;
  readonly #underWay = new Set<Promise<void>>();
  /** Those that are not confirmed: how many, and the size of those with long params beyond that. */
  #open = { count: 0, beyond: 0 };

  /** @param wake some are due again later */
  constructor(parts: SendingParts, wake: () => void) {
    this.#parts = parts;
    this.#wake = wake;
    this.#claim = new ClaimUnderWay(this.#claimId, MAX_OWN, parts);
  }

  claim(count: number, size: number): string | undefined {
    const { sender, signal } = this.#parts;
    const isRoom = this.#open.count + count <= MAX_OWN && this.#open.beyond + size - count <= MAX_OWN_BEYOND;
    return isRoom && sender.isReady && !signal.aborted ? this.#claimId : undefined;
  }

  /** Sends each pool's starts by themselves. Never rejects. */
  send(starts: OwnStart[]): void {
    const byPool = new Map<string, OwnStart[]>();
    for (const own of starts) {
      const { pool } = own.start;
      const same = byPool.get(pool);
      if (same) same.push(own);
      else byPool.set(pool, [own]);
    }
    for (const some of byPool.values()) this.#sendSlices(some);
  }

  /** Resolves when none is under way. */
  async over(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Sends two slices at a time: the next goes out while the broker confirms these. */
  #sendSlices(starts: OwnStart[]): void {
    const slices: Promise<void>[] = [];
    for (let from = 0; from < starts.length; from += CLAIM_LIMIT) {
      const due = starts.slice(from, from + CLAIM_LIMIT).map((own): DueCommand => ({ kind: "start", sentCount: 0, ...own }));
      const sending = this.#sendSlice(due, slices.at(-CLAIMS_AT_ONCE)).finally(() => this.#underWay.delete(sending));
      this.#underWay.add(sending);
      slices.push(sending);
    }
  }

  async #sendSlice(due: DueCommand[], turn: Promise<void> | undefined): Promise<void> {
    const beyond = due.reduce((sum, one) => sum + sizeOfStart(one), 0) - due.length;
    this.#open.count += due.length;
    this.#open.beyond += beyond;
    const confirmed = (): void => {
      this.#open.count -= due.length;
      this.#open.beyond -= beyond;
    };
    const settled = await this.#claim.send(due, confirmed, turn);
    if (settled.some(({ keep }) => keep)) this.#wake();
  }
}
