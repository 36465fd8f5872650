import type { ServiceId, StartObserver } from "@unacked/contracts";
import type { Command } from "../domain/books.ts";
import type { Log } from "./log.ts";
import type { Tally } from "./tally.ts";

/** A command that is due, claimed (locked) by this manager until the transaction ends. */
export type DueCommand = { id: string; sentCount: number; traceContext?: string | null } & (
  | { kind: "start"; start: Omit<StartObserver, "messageId"> | null }
  | Exclude<Command, { kind: "start" }>
);

/** `gone`: the generation it was sent to has no queue any more, so its connection is dead. */
export type SendOutcome = "sent" | "gone" | "failed";

export interface CommandStore {
  /**
   * Claims up to `limit` due commands (SKIP LOCKED) and holds their locks while `handle` sends them; then removes, or puts
   * off, each as told. A crash in between unlocks them: they are sent again.
   */
  claimDue(limit: number, handle: (due: DueCommand[]) => Promise<Settled[]>): Promise<number>;
  /** Until the next command is due; null when there is none. */
  nextDueInMs(): Promise<number | null>;
}

export type Settled = { id: string } & ({ keep: false } | { keep: true; dueInMs: number; wasSent: boolean });

export interface CommandSender {
  /** Resolves when messages can be sent: connected and not blocked by an alarm. */
  ready(signal: AbortSignal): Promise<void>;
  /** Sends all, waits for the broker's confirms, and answers for each in order. Never rejects. */
  send(due: DueCommand[]): Promise<SendOutcome[]>;
  /** Puts a death certificate into the state queue, behind everything the service said before. Rejects if not confirmed. */
  certifyDeath(serviceId: ServiceId, generation: number): Promise<void>;
}

const CLAIM_LIMIT = 2_000;
const CLAIMS_AT_ONCE = 2;
const BACKSTOP_MS = 5_000;
const FAILED_PAUSE_MS = 1_000;
const RESEND_FIRST_MS = 5_000;
const RESEND_MAX_MS = 60_000;

/**
 * What comes in: command rows that are due. It guarantees: each is sent at least once, and those that wait for an answer
 * (stops, restarts, inventories, drains) again and again until the ledger, having read the answer, forgets them.
 * A crash in the middle leaves the row: a start published twice is a duplicate that the ledger ends.
 */
export class Dispatcher {
  readonly #store: CommandStore;
  readonly #sender: CommandSender;
  readonly #log: Log;
  readonly #tally: Tally;
  readonly #stopping = new AbortController();
  #wake: () => void = () => {};
  #isAwake = false;
  #claims = 0;
  #loop: Promise<void> = Promise.resolve();

  constructor(store: CommandStore, sender: CommandSender, log: Log, tally: Tally) {
    this.#store = store;
    this.#sender = sender;
    this.#log = log;
    this.#tally = tally;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#loop;
  }

  /** Something may be due: called on NOTIFY and right after a commit of this manager's own. */
  wake(): void {
    this.#isAwake = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let isDue = true;
    while (!signal.aborted) {
      try {
        await this.#sender.ready(signal);
        const mayBeDue: boolean = isDue || this.#isAwake;
        this.#isAwake = false;
        isDue = mayBeDue && (await this.#claim()) > 0;
        if (isDue) continue; // more than that may be
        const nextDueInMs = (await this.#store.nextDueInMs()) ?? Number.POSITIVE_INFINITY;
        isDue = nextDueInMs <= BACKSTOP_MS;
        await this.#sleep(Math.min(BACKSTOP_MS, Math.max(1, nextDueInMs)));
      } catch (error) {
        if (signal.aborted) return;
        this.#log.warn({ err: error }, "dispatcher: commands could not be sent, trying again");
        this.#isAwake = false;
        isDue = true;
        await this.#sleep(FAILED_PAUSE_MS);
      }
    }
  }

  /** Where there are more than one claim takes, the next are claimed while the broker confirms these. */
  async #claim(): Promise<number> {
    this.#claims += 1;
    let more = Promise.resolve(0);
    try {
      return await this.#store.claimDue(CLAIM_LIMIT, (due) => {
        if (due.length === CLAIM_LIMIT && this.#claims < CLAIMS_AT_ONCE) more = this.#claim();
        more.catch(() => undefined); // it is waited for below, perhaps long after it failed
        return this.#dispatch(due);
      });
    } finally {
      this.#claims -= 1;
      await more;
    }
  }

  async #dispatch(due: DueCommand[]): Promise<Settled[]> {
    const toSend = due.filter((command) => command.kind !== "start" || command.start !== null);
    const outcomes = await this.#sender.send(toSend);
    const outcomeOf = new Map(toSend.map((command, i) => [command.id, outcomes[i] ?? "failed"]));
    for (const { id, kind } of toSend) this.#tally.sent(kind, outcomeOf.get(id) ?? "failed");
    const gone = new Map<string, { serviceId: ServiceId; generation: number }>();
    const settled = due.map((command) => {
      const outcome = outcomeOf.get(command.id);
      if (outcome === "gone" && "serviceId" in command) gone.set(`${command.serviceId} ${command.generation}`, command);
      return settle(command, outcome);
    });
    for (const { serviceId, generation } of gone.values()) await this.#sender.certifyDeath(serviceId, generation);
    return settled;
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isAwake || this.#stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }
}

/** What becomes of a command's row. `outcome` is undefined for a start that is not wanted any more. */
function settle(command: DueCommand, outcome: SendOutcome | undefined): Settled {
  const { id } = command;
  if (outcome === undefined) return { id, keep: false };
  if (outcome === "failed") return { id, keep: true, dueInMs: FAILED_PAUSE_MS, wasSent: false };
  switch (command.kind) {
    case "start":
    case "probe":
      return { id, keep: false };
    case "stop":
      return { id, keep: true, dueInMs: resendPauseMs(command.sentCount), wasSent: true };
    case "stop-run":
    case "restart-run":
    case "report-inventory":
    case "drain":
      // The certificate ends that generation's runs; there is nobody left to tell.
      if (outcome === "gone") return { id, keep: false };
      return { id, keep: true, dueInMs: resendPauseMs(command.sentCount), wasSent: true };
    default:
      return command satisfies never;
  }
}

/** 5 s, then doubling to 60 s. */
export function resendPauseMs(sentCount: number): number {
  return Math.min(RESEND_MAX_MS, RESEND_FIRST_MS * 2 ** Math.min(sentCount, 10));
}
