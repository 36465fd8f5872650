import { setTimeout as delay } from "node:timers/promises";
import { backoffMs, MAX_BULK, newClaimId } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { Tally } from "../tally.ts";
import { Together } from "../together.ts";
import { ClaimRenewal } from "./claim-renewal.ts";
import {
  type Claim,
  type CommandSender,
  type CommandStore,
  type DueCommand,
  dueAtOnce,
  type SendOutcome,
  type Settled,
} from "./command-store.ts";
import { OWN_CLAIM_HOLDS_MS, type OwnStart, type OwnStarts } from "./own-starts.ts";
import { type ClaimPart, StartsUnderWay, sizeOfStart } from "./starts-under-way.ts";

const CLAIM_LIMIT = 2_000;
const CLAIMS_AT_ONCE = 2;
/** A claim that the broker does not confirm by then no longer holds up the next one: the queue of a pool may have lost its majority. */
const PATIENCE_MS = 250;
/** Where a claim passes a hundred thousand starts of a full pool, claims take a fifth of the time at most while nothing is confirmed. */
const REST_OF_CLAIMS = 4;
const MAX_REST_MS = 2_000;
const restAfter = (tookMs: number): number => Math.min(MAX_REST_MS, Math.max(PATIENCE_MS, tookMs * REST_OF_CLAIMS));
/** The commands of a manager that died wait so long for another. */
const CLAIM_HOLDS_MS = OWN_CLAIM_HOLDS_MS;
/**
 * More own starts than this are left to be claimed: a large batch fits, and what comes beside it; of those with long params, as many as of
 * those that are claimed. While a queue has lost its majority nothing of them is confirmed: 12,000 of 256 KiB were 3 GB.
 */
const MAX_OWN = MAX_BULK + CLAIM_LIMIT;
const MAX_OWN_BEYOND = CLAIM_LIMIT * CLAIMS_AT_ONCE;
const BACKSTOP_MS = 5_000;
/** What is due and could not be claimed is locked by somebody. */
const LOCKED_PAUSE_MS = 100;
const FAILED_PAUSE_MS = 1_000;
/** An admission is put off by so much while its observer is being stopped: by then it has been, or goes on. */
const PUT_OFF_MS = 1_000;
const HELD_UP_PAUSE_MS = 5_000;
const RESENDS = { firstMs: 5_000, maxMs: 60_000 };

/**
 * What comes in: command rows that are due. It guarantees: each is sent at least once, and those that wait for an answer
 * (stops, restarts, moves, admissions, inventories, drains, cordons, reloads) again and again until the ledger, having read the answer, forgets them. That they
 * are being sent is committed first, so that nobody waits in a transaction for the broker. A crash in the middle leaves the
 * claims, which run out: a start published twice is a duplicate that the ledger ends. Every crash: docs/decisions/0009.
 * What this manager creates itself it is given, claimed already.
 */
export class Dispatcher implements OwnStarts {
  readonly #store: CommandStore;
  readonly #sender: CommandSender;
  readonly #log: Log;
  readonly #tally: Tally;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  #isDue = true;
  /** Each stands here until its outcome is written. They never reject. */
  readonly #underWay = new Set<Promise<void>>();
  /** The starts among these; own starts are not counted. */
  readonly #starts = new StartsUnderWay();
  /** The same for own starts. */
  readonly #ownUnderWay = new Set<Promise<void>>();
  /** Own starts that are not confirmed: how many, and the size of those with long params beyond that. */
  #own = { count: 0, beyond: 0 };
  /** One claim for all own starts: nobody claims under it again. */
  readonly #ownClaimId = newClaimId();
  readonly #ownRenewal = new ClaimRenewal((due) => this.#renew({ id: this.#ownClaimId, due }));
  /** Own starts are sent one by one, and written down together. */
  readonly #ownSettlement: Together<Settled[], void>;

  constructor(store: CommandStore, sender: CommandSender, log: Log, tally: Tally) {
    this.#store = store;
    this.#sender = sender;
    this.#log = log;
    this.#tally = tally;
    this.#ownSettlement = new Together({
      maxSize: MAX_OWN,
      sizeOf: (settled) => settled.length,
      run: (all) => this.#settleOwn(all),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Claims no more, and waits for what is being sent: under an alarm until the publisher is closed, too. */
  async stop(): Promise<void> {
    await this.#loop.end();
    await Promise.all([...this.#underWay, ...this.#ownUnderWay]);
  }

  claim(count: number, size: number): string | undefined {
    const isRoom = this.#own.count + count <= MAX_OWN && this.#own.beyond + size - count <= MAX_OWN_BEYOND;
    return isRoom && this.#sender.isReady && !this.#loop.isStopped ? this.#ownClaimId : undefined;
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

  /** Sends two slices at a time: the next goes out while the broker confirms these. */
  #sendSlices(starts: OwnStart[]): void {
    const slices: Promise<void>[] = [];
    for (let from = 0; from < starts.length; from += CLAIM_LIMIT) {
      const due = starts.slice(from, from + CLAIM_LIMIT).map((own): DueCommand => ({ kind: "start", sentCount: 0, ...own }));
      const sending = this.#sendOwn(due, slices.at(-CLAIMS_AT_ONCE)).finally(() => this.#ownUnderWay.delete(sending));
      this.#ownUnderWay.add(sending);
      slices.push(sending);
    }
  }

  /** Never rejects. */
  async #sendOwn(due: DueCommand[], turn: Promise<void> | undefined): Promise<void> {
    const beyond = sizeOfStarts(due) - due.length;
    this.#own.count += due.length;
    this.#own.beyond += beyond;
    const release = this.#ownRenewal.hold(due);
    await turn;
    const outcomes = await this.#send(due);
    this.#own.count -= due.length;
    this.#own.beyond -= beyond;
    await release();
    await this.#ownSettlement.do(settlementOf(due, outcomes));
  }

  async #settleOwn(all: Settled[][]): Promise<void[]> {
    const settled = all.flat();
    await this.#untilWritten(() => this.#store.settle({ id: this.#ownClaimId }, settled));
    if (settled.some(({ keep }) => keep)) this.wake(); // for when it is due again
    return all.map(() => undefined);
  }

  /** Something may be due: called on NOTIFY and right after a commit of this manager's own. */
  wake(): void {
    this.#loop.wake();
  }

  async #round(): Promise<number> {
    await this.#sender.ready(this.#loop.signal);
    const mayBeDue = this.#loop.takeWake() || this.#isDue;
    const claimed = mayBeDue ? await this.#claim() : undefined;
    this.#isDue = claimed === "more";
    if (this.#isDue) return 0;
    const nextDueInMs = (await this.#store.nextDueInMs()) ?? Number.POSITIVE_INFINITY;
    this.#isDue = nextDueInMs <= BACKSTOP_MS;
    const isLocked = claimed === "nothing" && nextDueInMs <= 0;
    return Math.min(BACKSTOP_MS, isLocked ? LOCKED_PAUSE_MS : Math.max(1, nextDueInMs));
  }

  #failed(error: unknown): number {
    this.#log.warn({ err: error }, "dispatcher: commands could not be sent, trying again");
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
    const claim = await this.#store.claimDue(limit, CLAIM_HOLDS_MS, RESENDS, fullPools);
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
  #beginToSend(claim: Claim): number {
    const { parts, beyond } = this.#starts.begin(claim.due);
    const renewal = new ClaimRenewal((due) => this.#renew({ id: claim.id, due }));
    const settlement = new Together<Settled[], void>({
      maxSize: CLAIM_LIMIT,
      sizeOf: (settled) => settled.length,
      run: (all) => this.#untilWritten(() => this.#store.settle(claim, all.flat())).then(() => all.map(() => undefined)),
    });
    for (const part of parts) this.#follow(this.#dispatch(part, renewal, settlement));
    if (beyond.length > 0) this.#follow(settlement.do(beyond.map(({ id }) => dueAtOnce(id))));
    return beyond.length;
  }

  #follow(sending: Promise<void>): void {
    const followed = sending.finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
  }

  /** Never rejects. */
  async #dispatch(part: ClaimPart, renewal: ClaimRenewal, settlement: Together<Settled[], void>): Promise<void> {
    const { due } = part;
    const release = renewal.hold(due);
    const outcomes = await this.#send(due);
    this.#starts.end(part, [...outcomes.values()].includes("sent"));
    await release();
    const settled = settlementOf(due, outcomes);
    if (settled.length > 0) await settlement.do(settled);
  }

  /** Never rejects: whatever fails is sent again. */
  async #send(due: DueCommand[]): Promise<Map<string, SendOutcome>> {
    const toSend = due.filter(isWanted);
    const outcomes = await this.#sender.send(toSend).catch((error: unknown): SendOutcome[] => {
      this.#log.error({ err: error }, "dispatcher: commands could not be sent because of a bug in the manager");
      return [];
    });
    const outcomeOf = new Map(toSend.map((command, i) => [command.id, outcomes[i] ?? "failed"]));
    for (const { id, kind } of toSend) this.#tally.sent(kind, outcomeOf.get(id) ?? "failed");
    return outcomeOf;
  }

  async #renew(claim: Claim): Promise<void> {
    try {
      await this.#store.renew(claim, CLAIM_HOLDS_MS);
    } catch (error) {
      this.#log.warn({ err: error }, "dispatcher: a claim could not be renewed; another manager may send the same");
    }
  }

  /** Tries until the database has taken it: what went out and is not written down is sent again. */
  async #untilWritten(write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        this.#log.warn({ err: error }, "dispatcher: what was sent could not be recorded");
        if (this.#loop.isStopped) return;
        await delay(FAILED_PAUSE_MS, undefined, { signal: this.#loop.signal }).catch(() => undefined);
      }
    }
  }
}

/** Resolves when one of them is over, after `ms` at most. */
async function firstOf(several: Iterable<Promise<void>>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([...several, over]);
  clearTimeout(timer);
}

const sizeOfStarts = (due: readonly DueCommand[]): number => due.reduce((sum, one) => sum + sizeOfStart(one), 0);

/** What nobody wants any more is not sent. */
const isWanted = (command: DueCommand): boolean =>
  !(command.kind === "start" && command.start === null) &&
  !(command.kind === "admit" && (command.admission === null || command.admission === "later")) &&
  !(command.kind === "update-run" && (command.spec === null || command.spec === "later"));

const settlementOf = (due: DueCommand[], outcomes: ReadonlyMap<string, SendOutcome>): Settled[] =>
  due.flatMap((command) => outcomeOf(command, outcomes.get(command.id)) ?? []);

/** What becomes of a command's row; undefined: it stands as its claim left it. `outcome` is undefined for what is not wanted any more. */
function outcomeOf(command: DueCommand, outcome: SendOutcome | undefined): Settled | undefined {
  const { id } = command;
  if (command.kind === "stop") return outcome === "sent" ? undefined : { id, keep: "unsent-stop", dueInMs: FAILED_PAUSE_MS };
  if (outcome === undefined) {
    const isPutOff =
      (command.kind === "admit" && command.admission === "later") ||
      (command.kind === "update-run" && command.spec === "later");
    return isPutOff ? { id, keep: true, dueInMs: PUT_OFF_MS, wasSent: false } : { id, keep: false };
  }
  if (outcome === "held-up") return { id, keep: true, dueInMs: HELD_UP_PAUSE_MS, wasSent: false };
  if (outcome === "failed") return { id, keep: true, dueInMs: FAILED_PAUSE_MS, wasSent: false };
  switch (command.kind) {
    case "start":
    case "probe":
    case "step-aside":
      return { id, keep: false };
    case "stop-run":
    case "restart-run":
    case "move-run":
    case "admit":
    case "tell-checkpoint":
    case "update-run":
    case "report-inventory":
    case "drain":
    case "cordon":
    case "uncordon":
    case "reload":
      // The certificate ends that generation's runs; there is nobody left to tell.
      if (outcome === "gone") return { id, keep: false };
      return { id, keep: true, dueInMs: resendPauseMs(command.sentCount), wasSent: true };
    default:
      return command satisfies never;
  }
}

/** 5 s, then doubling to 60 s. */
export const resendPauseMs = (sentCount: number): number => backoffMs(RESENDS, sentCount);
