import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Log } from "../../../operations/log.ts";
import { describeDatabaseError } from "./database-error.ts";
import { placeOf } from "./database-urls.ts";
import type { DatabaseAddress } from "./ssl-mode.ts";

/** None of the databases can be written to just now, or a connection has come to one that cannot. This passes by itself. */
export class NoPrimaryError extends Error {
  override readonly name = "NoPrimaryError";
}

/** A server that has not answered by then is given up. */
const ANSWER_WITHIN_MS = 5_000;
/** A dead machine does not answer at all: once one has answered as the primary, the others are waited for no longer than this. */
const OTHERS_WITHIN_MS = 500;
/** A standby may be promoted while its old primary lives, and nobody ever fails to reach that one. */
const LOOK_AROUND_MS = 10_000;
/** That there is no primary is remembered for so long: many may ask at once. */
const NONE_HOLDS_MS = 200;

/**
 * A promoted standby counts its timeline up; an old primary that somebody has started again stands on the one before.
 * https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES
 */
export const STANDING = `
  SELECT CASE WHEN pg_is_in_recovery() THEN NULL
         ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`;

interface Asked {
  query(text: string): Promise<{ rows: unknown[] }>;
}

/** @returns null: a standby */
async function timelineOf(connection: Asked): Promise<number | null> {
  const { rows } = await connection.query(STANDING);
  return (rows as { timeline: number | null }[])[0]?.timeline ?? null;
}

type Standing = { address: DatabaseAddress } & ({ timeline: number } | { why: string });

/**
 * Knows which of several servers is the primary: the one that is not in recovery; of two such the one with the later timeline; never one
 * with an earlier timeline than was seen before. All are asked when nobody knows (at the start, and after a connection could not be made,
 * or came to another), and each 10 s, as one may be promoted beside a primary that lives. (libpq's `target_session_attrs=read-write` takes
 * the first; pg has no such thing.) A server that is alone is asked nothing.
 */
export class Primary {
  readonly #addresses: readonly DatabaseAddress[];
  readonly #log: Log;
  readonly #movedListeners: (() => void)[] = [];
  #latest: DatabaseAddress;
  #isSure: boolean;
  #timeline = 0;
  #asking: Promise<DatabaseAddress> | undefined;
  #isWarned = false;
  readonly #lookingAround: NodeJS.Timeout | undefined;

  constructor(addresses: readonly [DatabaseAddress, ...DatabaseAddress[]], log: Log) {
    this.#addresses = addresses;
    this.#latest = addresses[0];
    this.#isSure = addresses.length === 1;
    this.#log = log;
    if (this.isOnly) return;
    this.#lookingAround = setInterval(() => void this.lookAround(), LOOK_AROUND_MS).unref();
  }

  /** Servers are not asked on their own any more. */
  close(): void {
    clearInterval(this.#lookingAround);
  }

  get isOnly(): boolean {
    return this.#addresses.length === 1;
  }

  /** The primary as it was last known. */
  get latest(): DatabaseAddress {
    return this.#latest;
  }

  /** The listener is told when another primary was found, or a later timeline. */
  onMoved(listener: () => void): void {
    this.#movedListeners.push(listener);
  }

  /** Rejects with a NoPrimaryError that names each server, and what is wrong with it. */
  find(): Promise<DatabaseAddress> {
    if (this.#isSure) return Promise.resolve(this.#latest);
    this.#asking ??= this.#ask();
    return this.#asking;
  }

  /** A connection to it could not be made: the next `find` asks again. */
  doubt(address: DatabaseAddress): void {
    if (!this.isOnly && address === this.#latest) this.#isSure = false;
  }

  /** Rejects where a new connection has come to a server that is not to be written to. */
  async check(connection: Asked, address: DatabaseAddress): Promise<void> {
    if (this.isOnly) return;
    const timeline = await timelineOf(connection);
    if (timeline === null) throw new NoPrimaryError(`${placeOf(address.url)} is a standby`);
    if (timeline < this.#timeline) throw new NoPrimaryError(`${placeOf(address.url)} ${this.#outdated(timeline)}`);
    if (timeline > this.#timeline) this.#found(address, timeline);
  }

  /** Finds out whether one of the others has been promoted meanwhile. Never rejects. */
  async lookAround(): Promise<void> {
    if (!this.#isSure) return;
    const latest = this.#latest;
    const others = await Promise.all(this.#addresses.filter((one) => one !== latest).map((one) => this.#standingOf(one)));
    const primaries = others.flatMap((one) => ("timeline" in one ? [one] : []));
    if (!this.#isSure || this.#latest !== latest) return; // it was found in another way
    if (primaries.length === 0) this.#isWarned = false;
    else if (!this.#isWarned) this.#warnOfSeveral([{ address: latest, timeline: this.#timeline }, ...primaries]);
    const [best] = primaries.toSorted((a, b) => b.timeline - a.timeline);
    if (best !== undefined && best.timeline > this.#timeline) this.#found(best.address, best.timeline);
  }

  async #ask(): Promise<DatabaseAddress> {
    const standings = await this.#standings();
    const primaries = standings.flatMap((one) => ("timeline" in one ? [one] : []));
    // Of equal ones the present primary counts: whoever goes to and fro writes to both.
    const [best] = primaries.toSorted(
      (a, b) => b.timeline - a.timeline || Number(b.address === this.#latest) - Number(a.address === this.#latest),
    );
    if (best === undefined || best.timeline < this.#timeline) return this.#none(standings);
    if (primaries.length > 1) this.#warnOfSeveral(primaries);
    this.#found(best.address, best.timeline);
    return best.address;
  }

  /** Answers in the order of the list: of all servers, or of those that answer until OTHERS_WITHIN_MS after a primary did. */
  async #standings(): Promise<Standing[]> {
    const standings: (Standing | undefined)[] = this.#addresses.map(() => undefined);
    const asked = this.#addresses.map(async (address, i) => {
      const standing = await this.#standingOf(address);
      standings[i] = standing;
      return "timeline" in standing && standing.timeline >= this.#timeline;
    });
    const all = Promise.all(asked);
    const enough = asked.map(async (isPrimary) => {
      if (await isPrimary) await sleep(OTHERS_WITHIN_MS, undefined, { ref: false });
      else await all;
    });
    await Promise.race([all, ...enough]);
    return standings.filter((one) => one !== undefined);
  }

  #found(address: DatabaseAddress, timeline: number): void {
    const isFirst = this.#timeline === 0;
    const hasMoved = !isFirst && (address !== this.#latest || timeline !== this.#timeline);
    this.#latest = address;
    this.#timeline = timeline;
    this.#isSure = true;
    this.#asking = undefined;
    if (!isFirst && !hasMoved) return;
    this.#log.info({ event: "primary-found", database: placeOf(address.url), timeline }, "the primary database was found");
    if (hasMoved) for (const listener of this.#movedListeners) listener();
  }

  #none(standings: Standing[]): never {
    const asking = this.#asking;
    const forget = () => {
      if (this.#asking === asking) this.#asking = undefined;
    };
    void sleep(NONE_HOLDS_MS, undefined, { ref: false }).then(forget);
    const each = standings.map((one) => {
      const why = "why" in one ? one.why : this.#outdated(one.timeline);
      return `${placeOf(one.address.url)} ${why}`;
    });
    throw new NoPrimaryError(`none of the ${standings.length} databases is a primary: ${each.join("; ")}`);
  }

  #outdated(timeline: number): string {
    return `is an old primary (timeline ${timeline}, and ${this.#timeline} was seen)`;
  }

  #warnOfSeveral(primaries: { address: DatabaseAddress; timeline: number }[]): void {
    this.#isWarned = true;
    const databases = primaries.map(({ address, timeline }) => `${placeOf(address.url)} (timeline ${timeline})`);
    this.#log.warn(
      { event: "several-primaries", databases },
      "several databases accept writes: the one with the latest timeline is used; stop the others, or make them standbys",
    );
  }

  async #standingOf(address: DatabaseAddress): Promise<Standing> {
    const client = new pg.Client({
      connectionString: address.url,
      ssl: address.ssl ?? false,
      application_name: "unacked-manager-asks",
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
    });
    client.on("error", () => undefined); // what is awaited reports it
    try {
      await client.connect();
      const timeline = await timelineOf(client);
      return timeline === null ? { address, why: "is a standby" } : { address, timeline };
    } catch (error) {
      const { fields } = describeDatabaseError(error);
      return { address, why: `does not answer (${fields["message"] || fields["code"] || fields["error"]})` };
    } finally {
      void client.end().catch(() => undefined);
    }
  }
}
