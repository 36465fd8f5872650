import { PROBLEMS, type ProblemCode, type WorkView } from "@unacked/contracts";
import type { AuditedActor } from "../../../domain/access/identity.ts";
import type { BulkWorkStep, BulkWorkWish } from "../../../operations/bulk-work/bulk-work-store.ts";

/** How many were refused, and the names of the first, by problem code. */
export type Refused = Partial<Record<ProblemCode, { count: number; names: string[] }>>;

export interface BulkWorkRow {
  id: string;
  wish: BulkWorkWish;
  actor: AuditedActor;
  audit_id: string;
  status: WorkView["status"];
  total: number;
  accepted: number;
  refused: Refused;
  place: string | null;
  created_at: Date;
  ended_at: Date | null;
  cancelled_by: string | null;
  problem: string | null;
  /** For how long it has gone on, by the clock of the database. */
  age_ms: number;
}

export const COLUMNS = `id, wish, actor, audit_id, status, total, accepted, refused, place, created_at, ended_at, cancelled_by, problem,
  (extract(epoch FROM coalesce(ended_at, clock_timestamp()) - created_at) * 1000)::float8 AS age_ms`;

/** @param most how many of each reason are named */
export function withStep(before: Refused, { refused }: BulkWorkStep, most: number): Refused {
  const after = { ...before };
  for (const { code, name } of refused) {
    const { count, names } = after[code] ?? { count: 0, names: [] };
    after[code] = { count: count + 1, names: names.length < most && name !== "" ? [...names, name] : names };
  }
  return after;
}

export function toWorkView(row: BulkWorkRow): WorkView {
  const { status, total, accepted: done } = row;
  const refused = Object.entries(row.refused) as [ProblemCode, { count: number; names: string[] }][];
  const failed = refused.reduce((sum, [, { count }]) => sum + count, 0);
  const reached = done + failed;
  const isOver = status !== "Running";
  const rest = Math.max(0, total - reached);
  const { act, filter, all, force, whenFull } = row.wish;
  return {
    id: row.id,
    of: "observers",
    act,
    filter,
    all,
    force,
    whenFull,
    status,
    begunBy: { name: row.actor.name, role: row.actor.role },
    begunAt: row.created_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    cancelledBy: row.cancelled_by,
    total: Math.max(total, reached),
    done,
    failed,
    remaining: isOver ? 0 : rest,
    leftAlone: isOver ? rest : 0,
    msLeft: isOver || reached === 0 ? null : Math.round((row.age_ms / reached) * rest),
    waitsFor: isOver || row.problem === null ? null : `its last step failed, and is tried again: ${row.problem}`,
    refused: refused
      .map(([code, { count, names }]) => ({
        code,
        title: PROBLEMS[code]?.title ?? code,
        remedy: PROBLEMS[code]?.remedy ?? "",
        count,
        names,
      }))
      .toSorted((a, b) => b.count - a.count),
  };
}
