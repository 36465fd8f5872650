import type { TaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { newAction } from "../../../operations/access/audit.ts";
import { scheduleActor } from "../../../operations/schedules/schedule-actor.ts";
import type { Decided, NewOccurrence, ScheduleDecision } from "../../../operations/schedules/schedule-store.ts";
import type { InsertOutcome } from "../../../operations/tasks/creations/insert-outcome.ts";
import type { UnwantedSend } from "../../../operations/tasks/unwanted-send.ts";
import { GivenRows } from "../statements/given-rows.ts";
import { cancelTasks } from "../tasks/desk/task-bulk-store.ts";
import { insertEach } from "../tasks/ledger/task-children.ts";
import { isoOf } from "./schedule-rows.ts";

interface Written {
  decision: ScheduleDecision;
  occurrence: NewOccurrence;
}

const OCCURRENCES = new GivenRows<Written>({
  schedule_id: ["text", ({ decision }) => decision.id],
  at: ["timestamptz", ({ occurrence }) => isoOf(occurrence.atMs)],
  status: ["text", ({ occurrence }) => occurrence.status],
  cause: ["text", ({ occurrence }) => occurrence.cause],
  reason: ["text", ({ occurrence }) => occurrence.reason ?? null],
  task_id: ["uuid", ({ occurrence }) => occurrence.task?.id ?? null],
  open: ["boolean", ({ occurrence }) => occurrence.isOpen === true],
  wanted: ["text", ({ occurrence }) => occurrence.wanted ?? null],
  late_ms: ["bigint", ({ occurrence }) => Math.max(0, Math.round(occurrence.lateMs))],
  earlier_missed: ["int", ({ occurrence }) => occurrence.earlierMissed ?? 0],
  asked_by: ["text", ({ occurrence }) => occurrence.by ?? null],
  version: ["int", ({ decision }) => decision.version],
  request_id: ["uuid", ({ occurrence }) => occurrence.request?.id ?? null],
  request_overlap: ["text", ({ occurrence }) => occurrence.request?.overlap ?? null],
});

/**
 * occurrences_pkey decides: a time that has its row gets no other, and no task. But what is queued may start, and a backfill may
 * start what was skipped or missed.
 */
const WRITE = `
  WITH written AS (
    INSERT INTO occurrences (${OCCURRENCES.names()}) SELECT * FROM ${OCCURRENCES.from()}
    ON CONFLICT (schedule_id, at) DO UPDATE SET status = excluded.status, cause = excluded.cause, reason = excluded.reason,
      task_id = excluded.task_id, open = excluded.open, asked_by = excluded.asked_by, version = excluded.version,
      decided_at = unacked_now()
    WHERE (excluded.cause = 'backfill' AND occurrences.status IN ('skipped', 'missed'))
       OR (excluded.status = 'started' AND occurrences.status = 'queued')
    RETURNING schedule_id, at, xmax = 0 AS is_new)
  SELECT schedule_id AS "scheduleId", at, is_new AS "isNew" FROM written`;

/** What became of a task that was not created. */
interface Mended {
  status: "started" | "skipped" | "queued";
  reason: string | null;
  taskId: TaskId | null;
  isOpen: boolean;
}

const MENDED = new GivenRows<Mended & { id: string; atMs: number }>({
  schedule_id: ["text", ({ id }) => id],
  at: ["timestamptz", ({ atMs }) => isoOf(atMs)],
  status: ["text", ({ status }) => status],
  reason: ["text", ({ reason }) => reason],
  task_id: ["uuid", ({ taskId }) => taskId],
  open: ["boolean", ({ isOpen }) => isOpen],
});
/** Corrects occurrences whose task was not created: says what was there in its place, or why not. */
const MEND = `
  UPDATE occurrences o SET ${MENDED.assigned("u", ["schedule_id", "at"])} FROM ${MENDED.from()}
  WHERE o.schedule_id = u.schedule_id AND o.at = u.at`;

const PLANNED = new GivenRows<{ decision: ScheduleDecision; added: number }>({
  id: ["text", ({ decision }) => decision.id],
  planned: ["boolean", ({ decision }) => decision.plan !== undefined],
  next_at: ["timestamptz", ({ decision }) => isoOf(decision.plan?.nextMs ?? null)],
  due_at: ["timestamptz", ({ decision }) => isoOf(decision.plan?.dueMs ?? null)],
  last_at: ["timestamptz", ({ decision }) => isoOf(decision.plan?.lastMs ?? null)],
  added: ["int", ({ added }) => added],
  missed: ["bigint", ({ decision }) => decision.missed],
  problem: ["text", ({ decision }) => decision.problem],
});
const PLAN = `
  UPDATE schedules s SET next_at = CASE WHEN u.planned THEN u.next_at ELSE s.next_at END,
    due_at = CASE WHEN u.planned THEN u.due_at ELSE s.due_at END, last_at = greatest(s.last_at, u.last_at),
    occurrences = s.occurrences + u.added, missed = s.missed + u.missed, problem = u.problem
  FROM ${PLANNED.from()}
  WHERE s.id = u.id
  RETURNING s.id, s.occurrences > (s.definition->>'keep')::int * 6 / 5 + 10 AS trim`;

/** Index: occurrences_pkey. What is queued, or not over, stays; what somebody may ask for again stays for a day. */
const TRIM = `
  DELETE FROM occurrences o USING (
    SELECT s.id, (SELECT at FROM occurrences k WHERE k.schedule_id = s.id
                  ORDER BY at DESC OFFSET (s.definition->>'keep')::int LIMIT 1) AS last
    FROM schedules s WHERE s.id = ANY($1)) t
  WHERE o.schedule_id = t.id AND o.at <= t.last AND NOT o.open AND o.status <> 'queued'
    AND NOT ((o.cause = 'backfill' OR o.request_id IS NOT NULL) AND o.decided_at > unacked_now() - interval '1 day')`;
const COUNT = `
  UPDATE schedules s SET occurrences = (SELECT count(*) FROM occurrences o WHERE o.schedule_id = s.id) WHERE s.id = ANY($1)`;

/** Writes all in this transaction, which has locked the schedules: rows, tasks, cancellations, and what is due next. */
export async function writeDecisions(tx: EntityManager, decisions: readonly ScheduleDecision[]): Promise<Decided> {
  const none: Decided = { occurrences: [], created: 0, cancelled: 0, over: [], refuse: [] };
  if (decisions.length === 0) return none;
  const { written, added } = await writeOccurrences(tx, decisions);
  const created = await createTasks(tx, written);
  const cancelled = await cancelReplaced(tx, decisions);
  await plan(tx, decisions, added);
  return {
    occurrences: written.map(({ occurrence: { status, lateMs, cause } }) => ({
      status,
      lateMs,
      isByTime: cause === "time",
    })),
    created,
    ...cancelled,
  };
}

const keyOf = (id: string, atMs: number): string => `${id} ${atMs}`;

async function writeOccurrences(
  tx: EntityManager,
  decisions: readonly ScheduleDecision[],
): Promise<{ written: Written[]; added: Map<string, number> }> {
  const all = decisions.flatMap((decision) => decision.occurrences.map((occurrence): Written => ({ decision, occurrence })));
  const added = new Map<string, number>();
  if (all.length === 0) return { written: [], added };
  const rows = await tx.query<{ scheduleId: string; at: Date; isNew: boolean }[]>(WRITE, OCCURRENCES.of(all));
  const there = new Set(rows.map(({ scheduleId, at }) => keyOf(scheduleId, at.getTime())));
  for (const { scheduleId, isNew } of rows) if (isNew) added.set(scheduleId, (added.get(scheduleId) ?? 0) + 1);
  return { written: all.filter(({ decision, occurrence }) => there.has(keyOf(decision.id, occurrence.atMs))), added };
}

async function createTasks(tx: EntityManager, written: Written[]): Promise<number> {
  const wanted = written.flatMap(({ decision, occurrence }) => {
    const { task } = occurrence;
    return task === undefined ? [] : [{ decision, occurrence, task }];
  });
  const outcomes = await insertEach(
    tx,
    wanted.map(({ task }) => task),
  );
  const others = wanted.flatMap(({ decision, occurrence }, place) => {
    const mended = mend(outcomes[place] ?? { kind: "refused" }, occurrence);
    if (mended === undefined) return [];
    occurrence.status = mended.status;
    return [{ id: decision.id, atMs: occurrence.atMs, ...mended }];
  });
  if (others.length > 0) await tx.query(MEND, MENDED.of(others));
  return wanted.length;
}

/** @returns undefined: it was created */
function mend(outcome: InsertOutcome | { kind: "refused" }, { isOpen = false, mayWait }: NewOccurrence): Mended | undefined {
  switch (outcome.kind) {
    case "created":
      return undefined;
    case "exists":
    case "returned":
    case "replaced":
    case "queued":
      return { status: "started", reason: null, taskId: outcome.id, isOpen };
    case "key-taken":
    case "held-up":
    case "key-elsewhere":
      if (mayWait) return { status: "queued", reason: null, taskId: null, isOpen: false };
      return { status: "skipped", reason: "key-taken", taskId: winnerOf(outcome), isOpen: false };
    case "taken":
    case "refused":
      return { status: "skipped", reason: "refused", taskId: null, isOpen: false };
    default:
      return outcome satisfies never;
  }
}

const winnerOf = (outcome: InsertOutcome): TaskId | null => ("winner" in outcome ? outcome.winner : null);

async function cancelReplaced(
  tx: EntityManager,
  decisions: readonly ScheduleDecision[],
): Promise<{ cancelled: number; over: TaskId[]; refuse: UnwantedSend[] }> {
  const over: TaskId[] = [];
  const refuse: UnwantedSend[] = [];
  let count = 0;
  for (const { id, cancel } of decisions) {
    if (cancel.length === 0) continue;
    const cancelled = await cancelTasks(tx, cancel, { ids: cancel }, newAction("task.cancel", scheduleActor(id)));
    count += cancelled.accepted;
    over.push(...cancelled.over);
    refuse.push(...cancelled.refuse);
  }
  return { cancelled: count, over, refuse };
}

async function plan(tx: EntityManager, decisions: readonly ScheduleDecision[], added: Map<string, number>): Promise<void> {
  const planned = decisions.map((decision) => ({ decision, added: added.get(decision.id) ?? 0 }));
  const [rows] = await tx.query<[{ id: string; trim: boolean }[], number]>(PLAN, PLANNED.of(planned));
  const full = rows.filter(({ trim }) => trim).map(({ id }) => id);
  if (full.length === 0) return;
  await tx.query(TRIM, [full]);
  await tx.query(COUNT, [full]);
}
