import type { TaskInput } from "@unacked/contracts";
import type { DataSource } from "typeorm";

/**
 * A limit for the error names, and for the error messages, of one task's inputs together, in characters: with the results they stay
 * well below what a slot takes as one frame. One message may have 16 Ki of them, and there may be ten thousand.
 */
const MAX_ERROR_CHARS = 262_144;
const share = (text: string): string => `left(${text}, (${MAX_ERROR_CHARS} / count(*) OVER (PARTITION BY u.id))::int)`;

/** Indexes: flow_edges_back, flow_tasks_pkey. */
const INPUTS = `
  SELECT u.id, p.ref, p.status, p.output, ${share("p.error->>'name'")} AS "errorName", ${share("p.error->>'message'")} AS "errorMessage"
  FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS u (id, flow_id, ref)
  JOIN flow_edges e ON e.flow_id = u.flow_id AND e.ref = u.ref
  JOIN flow_tasks p ON p.flow_id = e.flow_id AND p.ref = e.after
  WHERE p.status IS NOT NULL ORDER BY u.id, p.place`;

/**
 * Each of thousands of tasks may be given sixteen results of 64 KiB. A claim reads MAX_CLAIM_BYTES of them, a take so much, as many takers
 * may ask at once.
 */
export const MAX_TAKE_BYTES = 4_194_304;

/**
 * What surrounds each result, its ref and how it ended, counts as so much: ten thousand results of one byte are as much as
 * thirty of 64 KiB.
 */
const BYTES_AROUND = 200;

/** Indexes: as above. Lengths of results that are stored out of line are known without reading them. */
const SIZES = `
  SELECT u.id, (coalesce(sum(octet_length(p.output)), 0) + count(*) * ${BYTES_AROUND}
    + least(coalesce(sum(octet_length(p.error->>'message')), 0), ${MAX_ERROR_CHARS}))::float8 AS bytes
  FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS u (id, flow_id, ref)
  JOIN flow_edges e ON e.flow_id = u.flow_id AND e.ref = u.ref
  JOIN flow_tasks p ON p.flow_id = e.flow_id AND p.ref = e.after
  GROUP BY u.id`;

/** A task that was claimed just now. */
interface OfFlow {
  taskId: string;
  flowId: string | null;
  flowRef: string | null;
}

interface InputRow {
  id: string;
  ref: string;
  status: TaskInput["status"];
  output: string | null;
  errorName: string | null;
  errorMessage: string | null;
}

/**
 * Reads what each comes directly after, all of it over, by task; a task of no flow has nothing. If a claim has more of it than `maxBytes`,
 * nothing is read for the tasks beyond, which are to be claimed again later.
 */
export async function readInputs<Task extends OfFlow>(
  db: DataSource,
  claimed: readonly Task[],
  maxBytes: number,
): Promise<{ inputs: Map<string, TaskInput[]>; within: Task[]; beyond: Task[] }> {
  const ofFlows = claimed.filter(({ flowId }) => flowId !== null);
  const isBeyond = ofFlows.length > 1 ? await thoseBeyond(db, ofFlows, maxBytes) : new Set<string>();
  const some = ofFlows.filter(({ taskId }) => !isBeyond.has(taskId));
  const inputs = new Map<string, TaskInput[]>(some.map(({ taskId }) => [taskId, []]));
  if (some.length > 0)
    for (const row of await db.query<InputRow[]>(INPUTS, parametersOf(some))) inputs.get(row.id)?.push(toInput(row));
  const [within, beyond] = [false, true].map((is) => claimed.filter(({ taskId }) => isBeyond.has(taskId) === is));
  return { inputs, within: within as Task[], beyond: beyond as Task[] };
}

/** Tasks beyond `maxBytes`, in the order in which they were claimed; never the first. */
async function thoseBeyond(db: DataSource, some: readonly OfFlow[], maxBytes: number): Promise<Set<string>> {
  const rows = await db.query<{ id: string; bytes: number }[]>(SIZES, parametersOf(some));
  const bytesOf = new Map(rows.map(({ id, bytes }) => [id, bytes]));
  let sum = 0;
  return new Set(
    some.flatMap(({ taskId }, i) => {
      sum += bytesOf.get(taskId) ?? 0;
      return i > 0 && sum > maxBytes ? [taskId] : [];
    }),
  );
}

const parametersOf = (some: readonly OfFlow[]): unknown[] => [
  some.map(({ taskId }) => taskId),
  some.map(({ flowId }) => flowId),
  some.map(({ flowRef }) => flowRef),
];

const toInput = ({ ref, status, output, errorName, errorMessage }: InputRow): TaskInput => ({
  ref,
  status,
  ...(output !== null && { output }),
  ...(errorName !== null && { error: { name: errorName, message: errorMessage ?? "" } }),
});
