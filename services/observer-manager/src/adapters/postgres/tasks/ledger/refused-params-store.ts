import type { SendId, ServiceId, TaskTypeInfo } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { RefusedTask } from "../../../../domain/tasks/turned-away.ts";
import type { Announced, RefusedParamsStore } from "../../../../operations/tasks/ledger/refused-params-store.ts";
import { TypesByHash, type TypesRow } from "../../types/types-by-hash.ts";
import { MAY_LIVE } from "../views/unheard-services.ts";

/**
 * Those that announce the very same are one row, without the types of the hashes $2. Reads a handful of rows, those of who has gone an hour or
 * two ago, too. Who may live counts as living: after an outage a refusal may be read before what others say of themselves.
 */
const SERVICES = `
  SELECT g.types_hash::text AS hash, g.ids, g.taking, pg_column_size(s.types) AS bytes,
         CASE WHEN g.types_hash <> ALL($2::bigint[]) THEN s.types END AS types
  FROM (SELECT types_hash, array_agg(id) AS ids, (array_agg(id))[1] AS id,
               coalesce(array_agg(id) FILTER (WHERE workers > 0 AND NOT draining AND ${MAY_LIVE}), '{}') AS taking
        FROM task_services s WHERE pool = $1 GROUP BY types_hash) g JOIN task_services s USING (id)`;

/** Index: tasks_pkey. As long as its send is current, the params of a task stay what they are. */
const TASKS = `
  SELECT t.send_id AS "sendId", t.type, t.params, md5(t.params::text) AS "paramsHash", t.story->'turnedAway' AS before
  FROM tasks t JOIN unnest($1::uuid[], $2::uuid[]) AS e (id, send_id) ON t.id = e.id AND t.send_id = e.send_id
  WHERE t.id = ANY($1) AND t.type = ANY($3) AND t.cancel_requested_at IS NULL AND t.next_params IS NULL`;

type TaskType = Pick<TaskTypeInfo, "type" | "paramsSchema">;
type ServicesRow = TypesRow<TaskType> & { ids: ServiceId[]; taking: ServiceId[] };

export class PostgresRefusedParamsStore implements RefusedParamsStore {
  readonly #dataSource: DataSource;
  readonly #types = new TypesByHash<TaskType>();

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  services(pool: string): Promise<Announced[]> {
    return this.#types.read((known) => this.#dataSource.query<ServicesRow[]>(SERVICES, [pool, known]));
  }

  tasks(sends: Parameters<RefusedParamsStore["tasks"]>[0], types: string[]): Promise<(RefusedTask & { sendId: SendId })[]> {
    return this.#dataSource.query(TASKS, [sends.map(({ taskId }) => taskId), sends.map(({ sendId }) => sendId), types]);
  }
}
