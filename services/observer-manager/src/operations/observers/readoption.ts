import type { RunId } from "@unacked/contracts";
import { type BooksStore, type ErrorBook, type NewError, RefusedByDatabase, type UnknownRun } from "../books/books-store.ts";
import type { Log } from "../log.ts";
import type { Tally } from "../tally.ts";
import { notTakenBack, type Reported, readLostObserver, takeBack } from "./lost-observers.ts";

export interface ReadoptionParts {
  store: BooksStore;
  errors: ErrorBook;
  retentionMs: number;
  /** Told after a commit that wrote a command. */
  committed(): void;
  tally: Tally;
  log: Log;
}

/**
 * What comes in: error reports. A run that the books did not know was stopped, and its message is in the report. If these
 * very books gave that order, and the observer was created within the retention, they have lost it (restored from an older
 * backup, say): where it has the form of a create, it is recorded in the pool of the service that ran it, started again with a
 * higher revision, and audited. Type and params are not checked: the books may know its type as it was. Where its name is
 * another's by now, it goes on under a name of its own, and an entry of the errors says so. All else stays among the errors with
 * the reason. Safe to repeat: an observer that is there is left alone.
 */
export class Readoption implements ErrorBook {
  readonly #parts: ReadoptionParts;

  constructor(parts: ReadoptionParts) {
    this.#parts = parts;
  }

  async record(errors: NewError[]): Promise<void> {
    const unknown = errors.filter(({ reason }) => reason === "unknown-observer");
    const others = errors.filter(({ reason }) => reason !== "unknown-observer");
    const { reported, refused } = await this.#sift(unknown);
    await this.#parts.errors.record([...others, ...refused]);
    if (refused.length > 0)
      this.#parts.log.warn(
        { event: "not-taken-back", details: refused.slice(0, 20).map(({ detail }) => detail) },
        "reports about unknown observers were put among the errors",
      );
    if (reported.length > 0) await this.#takeBack(reported);
  }

  async #sift(reports: NewError[]): Promise<{ reported: Reported[]; refused: NewError[] }> {
    const runIds = reports.flatMap(({ runId }) => runId ?? []);
    const orders = runIds.length === 0 ? new Map<RunId, UnknownRun>() : await this.#parts.store.findUnknownRuns(runIds);
    const judged = reports.map((report) => this.#judge(report, orders));
    return {
      reported: judged.flatMap((one) => ("why" in one ? [] : [one])),
      refused: judged.flatMap((one) => ("why" in one ? [notTakenBack(one.report, one.why)] : [])),
    };
  }

  #judge(report: NewError, orders: ReadonlyMap<RunId, UnknownRun>): Reported | { report: NewError; why: string } {
    const refuse = (why: string) => ({ report, why });
    const order = report.runId === undefined ? undefined : orders.get(report.runId);
    if (!order) return refuse("the manager has ordered no such run to stop");
    const decoded = readLostObserver(report.body);
    if (!decoded.ok) return refuse(decoded.reason);
    const { observerId, messageId, revision, pool, createdAt } = decoded.value.start;
    const isOfThatRun = order.observerId === observerId && order.messageId === messageId && order.revision === revision;
    if (!isOfThatRun) return refuse("its message is not that of the run that was ordered to stop");
    if (order.pool !== pool) return refuse(`${order.serviceName}, which ran it, is in pool ${order.pool}`);
    const ageMs = Date.now() - Date.parse(createdAt);
    if (ageMs >= this.#parts.retentionMs)
      return refuse("it was created longer ago than the retention, and may have been removed on purpose");
    return { ...decoded.value, report, order };
  }

  /** A value that PostgreSQL refuses must not cost its neighbours. */
  async #takeBack(reported: Reported[]): Promise<void> {
    try {
      await this.#transact(reported);
    } catch (error) {
      const [first, ...others] = reported;
      if (!(error instanceof RefusedByDatabase) || first === undefined) throw error;
      if (others.length === 0) return this.#parts.errors.record([notTakenBack(first.report, error.message)]);
      for (const one of reported) await this.#takeBack([one]);
    }
  }

  async #transact(reported: Reported[]): Promise<void> {
    const { committed, log, store, tally } = this.#parts;
    const { names, entries } = await store.inTransaction((tx) => takeBack(tx, reported));
    tally.putAside(entries.map(({ reason }) => reason));
    for (const { detail } of entries) log.warn({ event: "taken-back-otherwise" }, detail);
    if (names.length === 0) return;
    log.warn(
      { event: "readopted", reported: reported.length, recorded: names.length, names: names.slice(0, 20) },
      "services ran observers that were missing in the books: they are recorded and started again",
    );
    committed();
  }
}
