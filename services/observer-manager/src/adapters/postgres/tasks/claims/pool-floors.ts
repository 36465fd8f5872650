import type { DataSource } from "typeorm";
import { ClaimFloors, type Floors, type Look } from "../../../../domain/tasks/claim-floors.ts";
import { ELSEWHERE } from "../../statements/elsewhere.ts";
import { Analysis } from "../../upkeep/analysis.ts";

const msOf = (time: string): string => `floor(extract(epoch FROM ${time}) * 1000)::float8`;

/** Looks at pool $1 and the types $2: one probe of tasks_ready_of_type for each priority, and what services have in flight, of all pools. */
export const LOOK = `
  SELECT ${msOf("now()")} AS "nowMs", ${msOf("unacked_now()")} AS "dueNowMs",
    coalesce((SELECT r.xid FROM pg_snapshot_xip(pg_current_snapshot()) AS r (xid) WHERE r.xid::xid NOT IN (${ELSEWHERE}) ORDER BY r.xid LIMIT 1),
             pg_snapshot_xmax(pg_current_snapshot()))::text AS xmin,
    pg_snapshot_xmax(pg_current_snapshot())::text AS xmax,
    (SELECT jsonb_agg(jsonb_build_object('type', k.type, 'ms', (
       WITH RECURSIVE first AS (
         (SELECT priority, due_at FROM tasks
          WHERE pool = $1 AND type = k.type AND status = 'Ready' ORDER BY priority DESC, due_at, id LIMIT 1)
         UNION ALL
         SELECT next.* FROM first, LATERAL (
           SELECT priority, due_at FROM tasks
           WHERE pool = $1 AND type = k.type AND status = 'Ready' AND priority < first.priority
           ORDER BY priority DESC, due_at, id LIMIT 1) next
       ) SELECT ${msOf("min(due_at)")} FROM first))) FROM unnest($2::text[]) AS k (type)) AS "oldestReady",
    (SELECT ${msOf("min(sent_at)")} FROM tasks WHERE status IN ('Sent', 'Running') AND lease_until IS NULL) AS "oldestSentMs"`;

type LookRow = Omit<Look, "xmin" | "xmax"> & { xmin: string; xmax: string };

/** Where this manager's next looks begin, pool by pool (domain/tasks/claim-floors.ts). */
export class PoolFloors {
  readonly #dataSource: DataSource;
  readonly #analysis: Analysis;
  readonly #byPool = new Map<string, ClaimFloors>();

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#analysis = new Analysis(dataSource, "tasks");
  }

  /** Undefined: a full look is due. */
  at(pool: string): Floors | undefined {
    return this.#byPool.get(pool)?.at(performance.now());
  }

  /** The pools whose looks begin late, and from when on they have something Ready. */
  readyFrom(): [pools: string[], from: Date[]] {
    const known = [...this.#byPool.keys()].flatMap((pool) => {
      const floors = this.at(pool);
      return floors === undefined ? [] : [{ pool, from: floors.readyFrom }];
    });
    return [known.map(({ pool }) => pool), known.map(({ from }) => from)];
  }

  /**
   * Notes that a full look took so long, for so many tasks. Where PostgreSQL has planned it by statistics that are out of date, no floor
   * would mend that. Never rejects: without it claims are slower, and they report the same trouble.
   */
  async learn(pool: string, types: string[], tookMs: number, tasks: number): Promise<void> {
    const floors = this.#byPool.get(pool) ?? new ClaimFloors();
    this.#byPool.set(pool, floors);
    if (!floors.isSlow(tookMs, tasks, performance.now()) || (await this.#analysis.renew())) return;
    try {
      const [row] = await this.#dataSource.query<LookRow[]>(LOOK, [pool, types]);
      if (row !== undefined)
        floors.looked({ ...row, xmin: BigInt(row.xmin), xmax: BigInt(row.xmax) }, tookMs, performance.now());
    } catch {
      // claims report it
    }
  }
}
