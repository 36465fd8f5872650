import type { Refusal } from "../refusal.ts";

/** A pool that has living services, with the types that are known there. */
export interface LivePool {
  pool: string;
  /** Of observers. */
  types: string[];
  taskTypes: string[];
}

export interface LivePools {
  /** In the order of their names. */
  livePools(): Promise<LivePool[]>;
}

const WAYS = {
  observers: { name: "type", field: "types", creates: "POST /api/v1/observers, or unacked create" },
  tasks: { name: "task type", field: "taskTypes", creates: "POST /api/v1/tasks, or unacked run" },
} as const;

/** Says which pools know it; of one that nobody knows, whether it is a type of the other kind. */
export function unknownType(
  kind: "observers" | "tasks",
  refusal: Refusal,
  { pool, type }: { pool: string; type: string },
  pools: LivePool[],
): Refusal {
  const { name, field } = WAYS[kind];
  const detail = `No live service of the pool "${pool}" knows the ${name} "${type}"`;
  const knownPools = pools.filter((one) => one[field].includes(type)).map((one) => one.pool);
  if (knownPools.length > 0) {
    const where = `known in ${knownPools.length === 1 ? "pool" : "pools"} ${knownPools.join(", ")}`;
    const remedy = `send pool ${knownPools.map((one) => `"${one}"`).join(" or ")}`;
    return { ...refusal, detail: `${detail}; ${where}: ${remedy}`, knownPools };
  }
  const other = kind === "tasks" ? "observers" : "tasks";
  const isOther = pools.some((one) => one[WAYS[other].field].includes(type));
  const why = isOther ? `; it is a type of ${other}: ${WAYS[other].creates}` : ", nor does one of another pool";
  return { ...refusal, detail: `${detail}${why}`, knownPools };
}
