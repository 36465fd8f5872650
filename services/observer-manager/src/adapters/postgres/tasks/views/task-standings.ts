import type { TaskView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { TypeStanding } from "../../../../domain/tasks/task-limits.ts";
import { prepared } from "../../statements/prepared.ts";
import { claimsLately } from "../claims/claims-lately.ts";
import { type TaskRow, toTaskView } from "./task-view.ts";
import { mayBeServed } from "./unheard-services.ts";

/** Index: tasks_in_flight, if one of these types has a limit. All pools count, as none is named ''. */
const STANDINGS = prepared(`
  SELECT p.pool, p.type, coalesce(l.paused, false) AS paused, ${mayBeServed("p.pool", "p.type")} AS "isServed",
    coalesce(l.outside, false) AS "isOutside",
    CASE WHEN l.max_running IS NULL THEN false
      ELSE l.max_running <= (SELECT coalesce(sum(f.count), 0) FROM unacked_tasks_held('', ARRAY[p.type]) f) END AS "isFull",
    coalesce(l.rate_per_second <= ${claimsLately("l", "clock_timestamp()")}, false) AS "isFast"
  FROM unnest($1::text[], $2::text[]) AS p (pool, type)
  LEFT JOIN task_types l USING (type)`);

type Kind = Pick<TaskView, "pool" | "type">;

/** The key of a type in a pool. */
export const keyOf = ({ pool, type }: Kind): string => `${pool} ${type}`; // neither has a blank

/** How it stands with these types in their pools, to say why tasks wait. */
export class TaskStandings {
  readonly #known: ReadonlyMap<string, TypeStanding>;

  private constructor(known: ReadonlyMap<string, TypeStanding>) {
    this.#known = known;
  }

  static async read(db: DataSource | EntityManager, kinds: Kind[]): Promise<TaskStandings> {
    const each = [...new Map(kinds.map((kind) => [keyOf(kind), kind])).values()];
    if (each.length === 0) return new TaskStandings(new Map());
    const parameters = [each.map(({ pool }) => pool), each.map(({ type }) => type)];
    const rows = await db.query<(Kind & TypeStanding)[]>(STANDINGS, parameters);
    return new TaskStandings(new Map(rows.map((row) => [keyOf(row), row])));
  }

  of(kind: Kind): TypeStanding | undefined {
    return this.#known.get(keyOf(kind));
  }
}

/** Shows rows; if some are Ready, it looks why they wait. */
export async function viewsOf(db: DataSource | EntityManager, rows: TaskRow[]): Promise<TaskView[]> {
  const standings = await TaskStandings.read(
    db,
    rows.filter(({ status }) => status === "Ready"),
  );
  return rows.map((row) => toTaskView(row, standings.of(row)));
}
