import type { DataSource } from "typeorm";
import type { Change, ChangeLog, ChangePosition, XidRange } from "../../../operations/changes/change-log.ts";
import { sqlStateOf } from "../connection/database-error.ts";
import { STANDING } from "../connection/primary.ts";
import {
  LARGE_COLUMNS,
  OBSERVER_COLUMNS,
  OBSERVER_SERVICE,
  type ObserverRow,
  toObserverView,
} from "../observers/observer-view.ts";
import { SERVICE_COLUMNS, type ServiceRow, toServiceView } from "../services/service-reads.ts";
import { ELSEWHERE } from "../statements/elsewhere.ts";
import { type CutRow, cutToBytes } from "../statements/page-bytes.ts";

const PAGE_ROWS = 500;

/**
 * A writing transaction takes its number when it begins to write, not when it commits, so a higher number may be visible before a
 * lower one. Below the oldest number still running nothing can change any more: that far, and no farther, the order is final.
 * Of other databases those that are not seen (they have just ended) count as ours. The snapshot is older than what is seen of these.
 */
const HORIZON = `
  SELECT pg_snapshot_xmax(s)::text AS latest, d.oid::text AS "database",
         ARRAY(SELECT r.xid::text FROM pg_snapshot_xip(s) AS r (xid) ORDER BY r.xid) AS running,
         ARRAY(SELECT r.xid::text FROM pg_snapshot_xip(s) AS r (xid) WHERE r.xid::xid IN (${ELSEWHERE})) AS elsewhere
  FROM (SELECT pg_current_snapshot() AS s) now, pg_database d WHERE d.datname = current_database()`;

/**
 * A standby may be promoted without the last changes of its primary, and gives their numbers to others: its timeline tells the two apart.
 */
const HORIZON_OF_TIMELINE = `SELECT * FROM (${HORIZON}) horizon, (${STANDING}) standing`;

/** Two servers may give different databases the same oid, so the server counts, too. Any role may ask unless somebody has forbidden it. */
const MAY_ASK_SERVER = "SELECT has_function_privilege('pg_control_system()', 'EXECUTE') AS may";
const SERVER = "SELECT system_identifier::text AS server FROM pg_control_system()";

/** SQLSTATE class 42: forbidden, or unknown; 0A: not supported. */
const REFUSES_TO_TELL = /^(42|0A)/;

/** Indexes: observers_changed, services_changed. */
const COUNT = `
  SELECT (SELECT count(*) FROM (SELECT 1 FROM observers WHERE changed_xid >= $1::xid8 AND changed_xid < $2::xid8 LIMIT $3) o)
       + (SELECT count(*) FROM (SELECT 1 FROM services WHERE changed_xid >= $1::xid8 AND changed_xid < $2::xid8 LIMIT $3) s)
    AS count`;

/** Indexes: observers_changed, services_changed. */
const KEYS = `
  (SELECT 'observer' AS kind, id, changed_xid AS xid FROM observers
   WHERE (changed_xid, id) > ($1::xid8, $3::uuid) AND changed_xid < $2::xid8
   ORDER BY changed_xid, id LIMIT $4)
  UNION ALL
  (SELECT 'service', id, changed_xid FROM services
   WHERE (changed_xid, id) > ($1::xid8, $3::uuid) AND changed_xid < $2::xid8
   ORDER BY changed_xid, id LIMIT $4)
  ORDER BY xid, id LIMIT $4`;

const KEYS_AS_TEXT = `SELECT kind, id, xid::text AS xid FROM (${KEYS}) keys ORDER BY keys.xid, id`;

/**
 * Index: observers_pkey. A row that was changed since is left out: it comes again with its new number. The last rows are left out if all
 * together are too long.
 */
const OBSERVERS = cutToBytes(
  `SELECT ${OBSERVER_COLUMNS}, o.changed_xid FROM observers o ${OBSERVER_SERVICE} WHERE o.id = ANY($1) AND o.changed_xid < $2::xid8`,
  LARGE_COLUMNS,
  "changed_xid, id",
);

/** Index: services_pkey. */
const SERVICES = `SELECT ${SERVICE_COLUMNS} FROM services s WHERE s.id = ANY($1) AND s.changed_xid < $2::xid8`;

/** Below every UUID that a row can have. */
const NO_ID = "00000000-0000-0000-0000-000000000000";

interface Horizon {
  latest: string;
  /** Lowest first. */
  running: string[];
  /** Those of them that are in other databases. */
  elsewhere: string[];
  database: string;
  /** Null on a standby; undefined if the role may not ask. */
  timeline?: number | null;
}

interface Key {
  kind: "observer" | "service";
  id: string;
  xid: string;
}

/** The books by what changed, in PostgreSQL. A crash leaves nothing behind: it only reads. */
export class PostgresChangeLog implements ChangeLog {
  readonly #dataSource: DataSource;
  /** It is asked once: a standby that is promoted has the same id. */
  #server: { id: string; horizon: string } | undefined;
  /** Running transactions that were seen in other databases: how far the order is final never goes back. */
  #elsewhere: ReadonlySet<string> = new Set();

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async horizon(): ReturnType<ChangeLog["horizon"]> {
    try {
      return await this.#horizon();
    } catch (error) {
      this.#server = undefined; // another server may answer next
      this.#elsewhere = new Set();
      throw error;
    }
  }

  async #horizon(): ReturnType<ChangeLog["horizon"]> {
    this.#server ??= await this.#askServer();
    const { id, horizon } = this.#server;
    const [row] = await this.#dataSource.query<Horizon[]>(horizon);
    if (row === undefined) throw new Error("The database does not name itself");
    const seenElsewhere = new Set(row.elsewhere);
    this.#elsewhere = new Set(row.running.filter((xid) => seenElsewhere.has(xid) || this.#elsewhere.has(xid)));
    const running = row.running.filter((xid) => !this.#elsewhere.has(xid)).map(BigInt);
    const latest = BigInt(row.latest);
    return { settled: running[0] ?? latest, latest, running, database: `${id}.${row.timeline ?? ""}.${row.database}` };
  }

  async #askServer(): Promise<{ id: string; horizon: string }> {
    const horizon = (await this.#tellsTimeline()) ? HORIZON_OF_TIMELINE : HORIZON;
    const [asked] = await this.#dataSource.query<{ may: boolean }[]>(MAY_ASK_SERVER);
    if (!asked?.may) return { id: "", horizon };
    const [row] = await this.#dataSource.query<{ server: string }[]>(SERVER);
    return { id: row?.server ?? "", horizon };
  }

  /** False if the role may not ask; a database service that keeps its log elsewhere may not have it at all. */
  async #tellsTimeline(): Promise<boolean> {
    try {
      await this.#dataSource.query(STANDING);
      return true;
    } catch (error) {
      if (REFUSES_TO_TELL.test(sqlStateOf(error) ?? "")) return false;
      throw error;
    }
  }

  async count({ from, to }: XidRange, atMost: number): Promise<number> {
    const [row] = await this.#dataSource.query<{ count: string }[]>(COUNT, [String(from), String(to), atMost]);
    return Number(row?.count ?? 0);
  }

  async page(range: XidRange, after: ChangePosition | null): ReturnType<ChangeLog["page"]> {
    const from = after?.xid ?? range.from;
    const parameters = [String(from), String(range.to), after?.id ?? NO_ID, PAGE_ROWS];
    const keys = await this.#dataSource.query<Key[]>(KEYS_AS_TEXT, parameters);
    const observers = await this.#read<ObserverRow & CutRow>(OBSERVERS, keys, "observer", range);
    const isCut = observers.length < (observers[0]?.found ?? 0);
    const shown = isCut ? keys.slice(0, keys.findIndex(({ id }) => id === observers.at(-1)?.id) + 1) : keys;
    const services = await this.#read<ServiceRow>(SERVICES, shown, "service", range);
    const changes = new Map<string, Change>([
      ...observers.map((row) => [row.id, { kind: "observer", view: toObserverView(row) }] as const),
      ...services.map((row) => [row.id, { kind: "service", view: toServiceView(row) }] as const),
    ]);
    const last = isCut || keys.length === PAGE_ROWS ? shown.at(-1) : undefined;
    return {
      changes: shown.flatMap(({ id, xid }) => {
        const change = changes.get(id);
        return change === undefined ? [] : [{ change, xid: BigInt(xid) }];
      }),
      bytes: observers.reduce((sum, { bytes }) => sum + bytes, 0),
      next: last === undefined ? null : { xid: BigInt(last.xid), id: last.id },
    };
  }

  async #read<Row>(sql: string, keys: readonly Key[], kind: Key["kind"], { to }: XidRange): Promise<Row[]> {
    const ids = keys.flatMap((key) => (key.kind === kind ? [key.id] : []));
    return ids.length === 0 ? [] : this.#dataSource.query<Row[]>(sql, [ids, String(to)]);
  }
}
