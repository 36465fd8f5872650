import type { TaskInput } from "@unacked/contracts";
import type { DataSource } from "typeorm";

/**
 * How long names and messages of errors of one task's inputs may be together, in characters: with the results well below what a slot
 * takes as one frame. One message may have 16 Ki of them, and there may be ten thousand.
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

/** Of those that belong to flows, by task: what each comes directly after, all of it over. One statement for all of them. */
export async function readInputs(db: DataSource, claimed: readonly OfFlow[]): Promise<Map<string, TaskInput[]>> {
  const some = claimed.filter(({ flowId }) => flowId !== null);
  const inputs = new Map<string, TaskInput[]>(some.map(({ taskId }) => [taskId, []]));
  if (some.length === 0) return inputs;
  const parameters = [
    some.map(({ taskId }) => taskId),
    some.map(({ flowId }) => flowId),
    some.map(({ flowRef }) => flowRef),
  ];
  for (const row of await db.query<InputRow[]>(INPUTS, parameters)) inputs.get(row.id)?.push(toInput(row));
  return inputs;
}

const toInput = ({ ref, status, output, errorName, errorMessage }: InputRow): TaskInput => ({
  ref,
  status,
  ...(output !== null && { output }),
  ...(errorName !== null && { error: { name: errorName, message: errorMessage ?? "" } }),
});
