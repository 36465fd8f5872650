import { generationKey, type SendId, type ServiceId, type TaskId } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { TaskNews, TaskWord, Teller } from "../../../domain/tasks/task-words.ts";
import { allInOrder } from "../../../operations/all-in-order.ts";
import {
  AppliedBefore,
  type OverTask,
  type SendCreations,
  type TaskLedgerStore,
  type UnwantedAttempt,
} from "../../../operations/tasks/task-store.ts";
import { transact, type Unawaited } from "../connection/transaction.ts";
import { mostlyNull } from "../statements/mostly-null.ts";
import { prepared } from "../statements/prepared.ts";
import { rethrowRefused } from "../statements/refused.ts";
import { type CreatingTask, createChildren } from "./task-children.ts";
import {
  CANCELLED,
  COMPLETIONS,
  ENDS,
  FAILED_BY_CRASHES,
  MAX_CRASHES,
  RELEASES,
  RETURNS,
  STARTS,
} from "./task-ledger-statements.ts";
import { refusalsOf } from "./task-refusals.ts";
import { unwantedOf } from "./task-unwanted.ts";

const LAST_SEQS = "SELECT id, last_seq FROM task_services WHERE id = ANY($1)";

const WORKERS = `
  INSERT INTO task_services (id, generation, name, pool, workers, draining, types)
  SELECT id, generation, name, pool, workers, draining, types::jsonb
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::int[], $6::boolean[], $7::text[])
    AS u (id, generation, name, pool, workers, draining, types)
  ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, workers = excluded.workers, draining = excluded.draining,
    types = excluded.types, seen_at = now()`;

/**
 * Asked first, so that two ledgers (a take-over; a commit whose answer was lost) write of a service one after the other, and locked in id order, so that
 * they cannot wait for each other. @returns those of whom nothing was applied before of what is told from $6 on: each numbers all that it tells. `isBehind`:
 * something that it told before that never was, as an answer gives a row of before the statement.
 *
 * Of a service whose row is gone, too: what it told before that may be read late, and then come again. It is given nothing until it says its types.
 */
const SEQS = prepared(`
  INSERT INTO task_services (id, generation, name, pool, workers, draining, types, last_seq)
  SELECT id, generation, name, pool, 0, false, '[]', seq
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::bigint[]) AS u (id, generation, name, pool, seq) ORDER BY id
  ON CONFLICT (id) DO UPDATE SET last_seq = excluded.last_seq, seen_at = now()
    WHERE task_services.last_seq < ($6::bigint[])[array_position($1::uuid[], excluded.id)]
  RETURNING pool, coalesce((SELECT was.last_seq FROM task_services was WHERE was.id = task_services.id), 0)
    < ($6::bigint[])[array_position($1::uuid[], id)] - 1 AS "isBehind"`);

/**
 * Who ended an hour ago, and was last heard of an hour before who was heard of last. An hour of the queue, and not of the clock: while nothing
 * is read, as broker or managers are away, nobody grows older. So all that this service told, and what of it comes again, was in front of what
 * has been read since, and its number is not needed any more. Proofs ask for it for 90 seconds. All of the table is read: a handful of rows.
 */
const FORGET_GONE = `
  DELETE FROM task_services WHERE id IN (
    SELECT t.id FROM task_services t LEFT JOIN services s USING (id)
    WHERE t.seen_at < (SELECT max(seen_at) FROM task_services) - interval '1 hour'
      AND coalesce(s.ended_at < now() - interval '1 hour', s.id IS NULL)
    LIMIT $1 FOR UPDATE OF t SKIP LOCKED)`;

const SEEN = "UPDATE task_proofs SET seen_at = now() WHERE marker_id = ANY($1::uuid[]) AND seen_at IS NULL";

const HELD = `
  UPDATE task_proofs SET answered = array_append(answered, $2), held = held || $3::uuid[]
  WHERE marker_id = $1 AND NOT $2 = ANY(answered)`;

export class PostgresTaskLedgerStore implements TaskLedgerStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async lastSeqs(services: ServiceId[]): Promise<Map<ServiceId, number>> {
    const rows = await this.#dataSource.query<{ id: ServiceId; last_seq: string }[]>(LAST_SEQS, [services]);
    return new Map(rows.map(({ id, last_seq: seq }) => [id, Number(seq)]));
  }

  async apply(news: TaskNews, creations: Creations = NONE): ReturnType<TaskLedgerStore["apply"]> {
    return await transact(this.#dataSource, (tx, unawaited) => write(tx, unawaited, news, creations)).catch(rethrowRefused);
  }

  async forgetGone(limit: number): Promise<number> {
    const [, gone] = await this.#dataSource.query<[unknown[], number]>(FORGET_GONE, [limit]);
    return gone;
  }
}

/** What is asked of each kind of word is sent together, and done in this order; what depends on the answers comes after. */
async function write(
  tx: EntityManager,
  unawaited: Unawaited,
  news: TaskNews,
  creations: Creations,
): ReturnType<TaskLedgerStore["apply"]> {
  const { words, workers, seen, inventories, running, seqs } = news;
  const numbered = tx.query<NumberedRow[]>(SEQS, parametersOfSeqs([...seqs.values()])).then((rows) => {
    if (rows.length < seqs.size) throw new AppliedBefore("some of this stands in the books");
    return rows;
  });
  unawaited.add(numbered); // what it says comes before what else is refused
  if (workers.length > 0) unawaited.add(tx.query(WORKERS, parametersOfWorkers(workers)));
  const ends = words.filter(({ end }) => end !== undefined);
  const { plain, others } = partedEnds(ends);
  const returns = words.filter(({ end, returned }) => end === undefined && returned !== undefined);
  const held = words.filter(({ end, returned }) => end === undefined && returned === undefined);
  const starts = held.filter(({ runId }) => runId !== undefined);
  const releases = held.filter(({ runId }) => runId === undefined);
  const asked = allInOrder([
    numbered,
    starts.length === 0 ? [] : tx.query<StartedRow[]>(STARTS, parametersOfStarts(starts)),
    returns.length === 0 ? [] : tx.query<StartedRow[]>(RETURNS, parametersOfReturns(returns)),
    releases.length === 0 ? [] : tx.query<ReleasedRow[]>(RELEASES, parametersOfReleases(releases)),
    plain.length === 0 ? NONE_COMPLETED : complete(tx, plain),
    others.length === 0 ? NO_ENDS : tx.query<EndedRow[]>(ENDS, parametersOfEnds(others)),
    unwantedOf(tx, running),
  ]);
  if (seen.length > 0) unawaited.add(tx.query(SEEN, [seen]));
  for (const { serviceId, generation, markerId, held } of inventories)
    unawaited.add(tx.query(HELD, [markerId, generationKey(serviceId, generation), held]));
  const [rows, started, back, released, completed, changed, stale] = await asked;
  const ended = [...completed.ended, ...changed, ...(await endRest(tx, plain, completed.ended))];
  const { over: failed, unwanted } = await failStarted(tx, starts, started);
  const returned = await endReturned(tx, [...back, ...released]);
  if (creations.size > 0) await createChildren(tx, completedOf(ends, ended, creations));
  unwanted.push(...stale, ...(await refusalsOf(tx, released)));
  const over = [...failed, ...returned, ...ended.filter(isOver)];
  // Of those that were ended by hand or by crashes nobody asks: they are few.
  const hasFlowEnds = failed.length + returned.length > 0 || completed.hasFlowEnds || ended.some(({ isOfFlow }) => isOfFlow);
  return { over, unwanted, hasFlowEnds, behind: poolsBehind(rows, seqs) };
}

interface NumberedRow {
  pool: string;
  isBehind: boolean;
}

function poolsBehind(rows: readonly NumberedRow[], seqs: TaskNews["seqs"]): string[] {
  const between = [...seqs.values()].filter(({ isWhole }) => !isWhole);
  return [...new Set([...rows.filter(({ isBehind }) => isBehind), ...between].map(({ pool }) => pool))];
}

/** Completed, and nothing more is said of it. */
const isPlain = (word: TaskWord): boolean =>
  word.end?.outcome === "completed" && word.end.error === undefined && noteOf(word) === null;

/** Of one task that ended in two sends, only the first may be plain. */
function partedEnds(ends: readonly TaskWord[]): { plain: TaskWord[]; others: TaskWord[] } {
  const plain = new Map<TaskId, TaskWord>();
  const others = ends.filter((word) => {
    const isOther = !isPlain(word) || plain.has(word.taskId);
    if (!isOther) plain.set(word.taskId, word);
    return isOther;
  });
  return { plain: [...plain.values()], others };
}

/** All in one answer of a row, as nobody needs to hear of each what he has just said. */
async function complete(tx: EntityManager, plain: TaskWord[]): Promise<Completed> {
  const asked = tx.query<{ hasFlowEnds: boolean; some: TaskId[] | null }[]>(COMPLETIONS, parametersOfCompletions(plain));
  const [{ hasFlowEnds, some } = { hasFlowEnds: false, some: [] }] = await asked;
  const among = some === null ? undefined : new Set(some);
  const done = among === undefined ? plain : plain.filter(({ taskId }) => among.has(taskId));
  return { hasFlowEnds, ended: done.map(({ taskId, sendId }) => ({ id: taskId, sendId, status: "Completed" })) };
}

/** Those of these that COMPLETIONS has left alone. */
async function endRest(tx: EntityManager, plain: TaskWord[], completed: EndedRow[]): Promise<EndedRow[]> {
  if (completed.length === plain.length) return NO_ENDS;
  const done = new Set(completed.map(({ id }) => id));
  const rest = plain.filter(({ taskId }) => !done.has(taskId));
  return rest.length === 0 ? NO_ENDS : await tx.query<EndedRow[]>(ENDS, parametersOfEnds(rest));
}

type Creations = ReadonlyMap<SendId, SendCreations>;
const NONE: Creations = new Map();

/** Over; or `Ready`: it has completed, and goes on with newer params. */
type EndedRow = { id: TaskId; sendId: SendId; status: OverTask["status"] | "Ready"; isOfFlow?: boolean };

const NO_ENDS: EndedRow[] = [];

/** Whether one of these is a flow's is told of all of them together. */
type Completed = { ended: EndedRow[]; hasFlowEnds: boolean };
const NONE_COMPLETED: Completed = { ended: NO_ENDS, hasFlowEnds: false };

const isOver = (row: EndedRow): row is EndedRow & OverTask => row.status !== "Ready";

/** Of those that these ends have completed: not of an older send, whose end may be told beside the current one's, nor of what was cancelled. */
function completedOf(ends: TaskWord[], ended: EndedRow[], creations: Creations): CreatingTask[] {
  const completed = new Set(
    ended.filter(({ status }) => status === "Completed" || status === "Ready").map(({ sendId }) => sendId),
  );
  return ends.flatMap(({ taskId, sendId }) => {
    const found = creations.get(sendId);
    return found === undefined || !completed.has(sendId) ? [] : [{ taskId, ...found }];
  });
}

interface StartedRow {
  id: TaskId;
  crashes: number;
  cancelling: boolean;
}

type ReleasedRow = StartedRow & { pool: string; sendId: SendId };

/** What is not the current send is unwanted; so is what somebody has cancelled, and what has ended too many services. */
async function failStarted(
  tx: EntityManager,
  starts: TaskWord[],
  rows: StartedRow[],
): Promise<{ over: OverTask[]; unwanted: UnwantedAttempt[] }> {
  const current = new Map(rows.map((row) => [row.id, row]));
  const failed = rows.filter(({ crashes }) => crashes >= MAX_CRASHES).map(({ id }) => id);
  if (failed.length > 0) await tx.query(FAILED_BY_CRASHES, [failed, JSON.stringify(TOO_MANY_CRASHES)]);
  const unwanted = starts.filter(({ taskId }) => {
    const row = current.get(taskId);
    return row === undefined || row.cancelling || row.crashes >= MAX_CRASHES;
  });
  return {
    over: failed.map((id) => ({ id, status: "Failed" })),
    unwanted: unwanted.map(({ taskId, sendId, by: { serviceId, generation } }) => ({
      taskId,
      sendId,
      serviceId,
      generation,
    })),
  };
}

/** What was to be cancelled is not sent again. @returns what is over */
async function endReturned(tx: EntityManager, rows: StartedRow[]): Promise<OverTask[]> {
  const cancelled = rows.filter(({ cancelling }) => cancelling).map(({ id }) => id);
  const failed = rows.filter(({ cancelling, crashes }) => !cancelling && crashes >= MAX_CRASHES).map(({ id }) => id);
  if (cancelled.length > 0) await tx.query(CANCELLED, [cancelled]);
  if (failed.length > 0) await tx.query(FAILED_BY_CRASHES, [failed, JSON.stringify(TOO_MANY_CRASHES)]);
  return [
    ...cancelled.map((id) => ({ id, status: "Cancelled" as const })),
    ...failed.map((id) => ({ id, status: "Failed" as const })),
  ];
}

const TOO_MANY_CRASHES = {
  name: "TaskCrashesError",
  message: `it ran in ${MAX_CRASHES} services that ended while they had it; it is not given to another`,
};

const parametersOfWorkers = (workers: TaskNews["workers"]): unknown[] => [
  workers.map((w) => w.serviceId),
  workers.map((w) => w.generation),
  workers.map((w) => w.serviceName),
  workers.map((w) => w.pool),
  workers.map((w) => w.workers),
  workers.map((w) => w.draining),
  workers.map((w) => JSON.stringify(w.types)),
];

const parametersOfSeqs = (tellers: (Teller & { pool: string; firstSeq: number; seq: number })[]): unknown[] => [
  tellers.map((t) => t.serviceId),
  tellers.map((t) => t.generation),
  tellers.map((t) => t.serviceName),
  tellers.map((t) => t.pool),
  tellers.map((t) => t.seq),
  tellers.map((t) => t.firstSeq),
];

const identityOf = (words: TaskWord[]): unknown[] => [words.map((w) => w.taskId), words.map((w) => w.sendId)];

const parametersOfStarts = (words: TaskWord[]): unknown[] => [
  ...identityOf(words),
  words.map((w) => w.runId),
  words.map((w) => w.by.serviceId),
  words.map((w) => w.by.generation),
  words.map((w) => w.by.serviceName),
  mostlyNull(words.map((w) => w.released ?? null)),
  words.map((w) => w.interruptions),
  words.map((w) => w.crashes),
];

const parametersOfReleases = (words: TaskWord[]): unknown[] => [...identityOf(words), words.map((w) => w.released ?? null)];

const parametersOfReturns = (words: TaskWord[]): unknown[] => [
  ...identityOf(words),
  words.map((w) => w.returned?.isRedelivered === true),
  words.map((w) => w.by.serviceId),
  words.map((w) => w.interruptions),
  words.map((w) => w.crashes),
];

/** Nothing has run for longer. What is told by a clock that was set meanwhile would have begun before all times of PostgreSQL. */
const LONGEST_RUN_MS = 50 * 366 * 86_400_000;

const tookMs = ({ end }: TaskWord): number => Math.min(Math.max(0, (end?.at ?? 0) - (end?.startedAt ?? 0)), LONGEST_RUN_MS);

const parametersOfCompletions = (words: TaskWord[]): unknown[] => [
  ...parametersOfStarts(words),
  words.map((w) => w.end?.output ?? null),
  words.map(tookMs),
];

const parametersOfEnds = (words: TaskWord[]): unknown[] => [
  ...parametersOfStarts(words),
  words.map((w) => w.end?.outcome),
  words.map((w) => w.end?.output ?? null),
  words.map((w) => (w.end?.error === undefined ? null : JSON.stringify(w.end.error))),
  words.map((w) => w.end?.retryInMs ?? w.end?.postponement?.inMs ?? null),
  words.map(tookMs),
  words.map((w) => noteOf(w)),
];

/** Nothing of nearly all. */
function noteOf({ end }: TaskWord): string | null {
  if (end?.outcome === "completed" && end.completedBy === "emergency") return '{"completedBy":"emergency"}';
  if (end?.outcome !== "postponed") return null;
  const { reason = "", at } = end.postponement ?? {};
  return JSON.stringify({ postponedFor: reason, ...(at !== undefined && { at }) });
}
