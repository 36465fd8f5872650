import type { ErrorBook, NewError } from "../books/books-store.ts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { ActionDone } from "./audit.ts";

export interface LostActionsParts {
  /** Those of these entries of the audit trail that the books do not have, or of which they have fewer, and do not do again by themselves. */
  missing(actions: { id: string; count: number }[]): Promise<ReadonlySet<string>>;
  errors: ErrorBook;
  managerId: string;
  log: Log;
}

/** A standby that is behind by more than that is rather a backup. */
const KEPT_MS = 600_000;
const MOST_KEPT = 10_000;
/** What was under way on the old primary when another was found may still be answered: longer than a statement takes. */
const LOOK_AGAIN_MS = 15_000;
const FAILED_PAUSE_MS = 1_000;
/** Such a line has some 20 kB. */
const MOST_OF_A_LINE = 50;

type Accepted = ActionDone & { atMs: number };

/**
 * What this manager has done for clients lately, as its transactions committed. When another database is the primary it looks which of it
 * is not there (the one that was promoted was behind) and tells it, to the errors and, with who asked, the log. It does nothing again by itself: what
 * was wanted then may be wrong now. A manager that dies before has told nothing. See docs/decisions/0027.
 */
export class LostActions {
  readonly #parts: LostActionsParts;
  /** They are kept by the id of their entry, the oldest first. */
  readonly #kept = new Map<string, Accepted>();
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  #looksDue = 0;

  constructor(parts: LostActionsParts) {
    this.#parts = parts;
  }

  /** Called after the commit. */
  accepted(done: readonly ActionDone[]): void {
    for (const one of done) {
      if (one.action.by.authentication === "schedule") continue; // it does that again by itself
      const before = this.#kept.get(one.action.id);
      this.#kept.delete(one.action.id);
      const all = before === undefined ? one : { ...before, count: before.count + one.count };
      this.#kept.set(one.action.id, { ...all, atMs: Date.now() });
      if (this.#kept.size <= MOST_KEPT) continue;
      for (const oldest of this.#kept.keys()) {
        this.#kept.delete(oldest);
        break;
      }
    }
  }

  databaseMoved(): void {
    this.#looksDue = 2;
    this.#loop.wake();
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #round(): Promise<number> {
    this.#loop.takeWake();
    if (this.#looksDue === 0) return Number.POSITIVE_INFINITY;
    this.#looksDue -= 1; // before anything is awaited: it may move once more meanwhile
    const since = Date.now() - KEPT_MS;
    const recent = [...this.#kept.values()].filter(({ atMs }) => atMs >= since);
    const missing = await this.#parts.missing(recent.map(({ action, count }) => ({ id: action.id, count })));
    const lost = recent.filter(({ action }) => missing.has(action.id));
    await this.#tell(lost);
    for (const { action } of lost) this.#kept.delete(action.id);
    return LOOK_AGAIN_MS;
  }

  async #tell(lost: Accepted[]): Promise<void> {
    if (lost.length === 0) return;
    const { errors, log, managerId } = this.#parts;
    const entries = lost.map((one) => entryOf(one, managerId));
    await errors.record(entries);
    const told = lost.map(({ action: { id, by } }, i) => ({ id, detail: entries[i]?.detail, by }));
    for (let from = 0; from < told.length; from += MOST_OF_A_LINE)
      log.error(
        { event: "lost-in-failover", lost: lost.length, actions: told.slice(from, from + MOST_OF_A_LINE) },
        "changes that were confirmed to clients are missing in the promoted database",
      );
  }

  #failed(error: unknown): number {
    this.#looksDue = Math.max(1, this.#looksDue);
    this.#parts.log.warn({ err: error }, "could not look up what is missing in the promoted database, trying again");
    return FAILED_PAUSE_MS;
  }
}

/** Who asked is left out: errors are for viewers, and callers and their addresses for admins alone, who have the log. */
function entryOf({ action, count, targets, atMs }: Accepted, reporter: string): NewError {
  const [first] = targets;
  const what = first === undefined ? "" : ` of the ${first.kind} ${first.name ?? ""} (${first.id})`;
  const others = count > 1 ? ` and ${count - 1} others` : "";
  const body = JSON.stringify({
    action: action.kind,
    at: new Date(atMs).toISOString(),
    count,
    targets,
    details: action.details,
  });
  return {
    messageId: action.id,
    reason: "lost-in-failover",
    detail: `${action.kind}${what}${others} was confirmed to the caller, but the promoted database does not have it. If it is missing and still wanted, ask for it again`,
    queue: "",
    ...(first?.kind === "observer" && count === 1 && { observerId: first.id as NonNullable<NewError["observerId"]> }),
    reporter,
    body,
    bodyBytes: Buffer.byteLength(body),
  };
}
