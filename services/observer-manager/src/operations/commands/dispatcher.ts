import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { Tally } from "../tally.ts";
import { CLAIM_LIMIT, CLAIMS_AT_ONCE, ClaimUnderWay, type SendingParts } from "./claim-under-way.ts";
import { CLAIM_HOLDS_MS, type Claim, type CommandSender, type CommandStore, dueAtOnce } from "./command-store.ts";
import { OwnStartSender } from "./own-start-sender.ts";
import type { OwnStarts } from "./own-starts.ts";
import { FAILED_PAUSE_MS, RESENDS } from "./settlement.ts";
import { StartsUnderWay } from "./starts-under-way.ts";

/** A claim that the broker does not confirm by then no longer holds up the next one: the queue of a pool may have lost its majority. */
const PATIENCE_MS = 250;
/** Where a claim passes a hundred thousand starts of a full pool, claims take a fifth of the time at most while nothing is confirmed. */
const REST_OF_CLAIMS = 4;
const MAX_REST_MS = 2_000;
const restAfter = (tookMs: number): number => Math.min(MAX_REST_MS, Math.max(PATIENCE_MS, tookMs * REST_OF_CLAIMS));
const BACKSTOP_MS = 5_000;
/** What is due and could not be claimed is locked by somebody. */
const LOCKED_PAUSE_MS = 100;

/**
 * What comes in: command rows that are due. It guarantees: each is sent at least once, and those that wait for an answer
 * (stops, restarts, moves, admissions, inventories, drains, cordons, reloads) again and again until the ledger, having read the answer, forgets them. That they
 * are being sent is committed first, so that nobody waits in a transaction for the broker. A crash in the middle leaves the
 * claims, which run out: a start published twice is a duplicate that the ledger ends. Every crash: docs/decisions/0009.
 * What this manager creates itself it is given, claimed already.
 */
export class Dispatcher {
  readonly #parts: SendingParts;
  readonly #ownStarts: OwnStartSender;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  #isDue = true;
  /** Each stands here until its outcome is written. They never reject. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** The starts among these; own starts are not counted. */
  readonly #starts = new StartsUnderWay();

  constructor(store: CommandStore, sender: CommandSender, log: Log, tally: Tally) {
    this.#parts = { store, sender, log, tally, signal: this.#loop.signal };
    this.#ownStarts = new OwnStartSender(this.#parts, () => this.wake());
  }

  /** Sends what this manager creates itself: it is claimed already as it is written. */
  get ownStarts(): OwnStarts {
    return this.#ownStarts;
  }

  start(): void {
    this.#loop.start();
  }

  /** Claims no more, and waits for what is being sent: under an alarm until the publisher is closed, too. */
  async stop(): Promise<void> {
    await this.#loop.end();
    await Promise.all([...this.#underWay, this.#ownStarts.over()]);
  }

  /** Something may be due: called on NOTIFY and right after a commit of this manager's own. */
  wake(): void {
    this.#loop.wake();
  }

  async #round(): Promise<number> {
    await this.#parts.sender.ready(this.#loop.signal);
    const mayBeDue = this.#loop.takeWake() || this.#isDue;
    const claimed = mayBeDue ? await this.#claim() : undefined;
    this.#isDue = claimed === "more";
    if (this.#isDue) return 0;
    const nextDueInMs = (await this.#parts.store.nextDueInMs()) ?? Number.POSITIVE_INFINITY;
    this.#isDue = nextDueInMs <= BACKSTOP_MS;
    const isLocked = claimed === "nothing" && nextDueInMs <= 0;
    return Math.min(BACKSTOP_MS, isLocked ? LOCKED_PAUSE_MS : Math.max(1, nextDueInMs));
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "dispatcher: commands could not be sent, trying again");
    this.#loop.takeWake();
    this.#isDue = true;
    return FAILED_PAUSE_MS;
  }

  /**
   * Claims what is due. Where there is more than one claim takes, the next is claimed while the broker confirms these.
   * @returns more: than this may be due
   */
  async #claim(): Promise<"nothing" | "all" | "more"> {
    const { fullPools, roomOfPool } = this.#starts;
    const limit = Math.min(CLAIM_LIMIT, Math.ceil(roomOfPool));
    const beganMs = performance.now();
    const claim = await this.#parts.store.claimDue(limit, CLAIM_HOLDS_MS, RESENDS, fullPools);
    const tookMs = performance.now() - beganMs;
    const { length } = claim.due;
    if (length === 0 && fullPools.length === 0) return "nothing";
    const beyond = length > 0 ? this.#beginToSend(claim) : 0;
    if (length < limit || this.#underWay.size >= CLAIMS_AT_ONCE)
      await firstOf(this.#underWay, fullPools.length === 0 ? PATIENCE_MS : restAfter(tookMs));
    return length === limit || fullPools.length > 0 || beyond > 0 ? "more" : "all";
  }

  /**
   * Sends each pool's starts by themselves: whatever holds up one, others are confirmed, settled and out of the count meanwhile.
   * @returns how many starts are not sent now, for want of room
   */
  #beginToSend({ id, due }: Claim): number {
    const { parts, beyond } = this.#starts.begin(due);
    const claim = new ClaimUnderWay(id, CLAIM_LIMIT, this.#parts);
    for (const part of parts)
      this.#follow(claim.send(part.due, (outcomes) => this.#starts.end(part, [...outcomes.values()].includes("sent"))));
    if (beyond.length > 0) this.#follow(claim.settle(beyond.map((command) => dueAtOnce(command.id))));
    return beyond.length;
  }

  #follow(sending: Promise<unknown>): void {
    const followed = sending.finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
  }
}

/** Resolves when one of them is over, after `ms` at most. */
async function firstOf(several: Iterable<Promise<unknown>>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([...several, over]);
  clearTimeout(timer);
}
