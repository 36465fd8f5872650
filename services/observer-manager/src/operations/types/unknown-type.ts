import { MAX_NAMED, named } from "../../domain/named.ts";
import type { Refusal } from "../refusal.ts";

/** A pool that has living services, with the types that are known there. */
export interface LivePool {
  pool: string;
  /** The types of observers. */
  types: string[];
  taskTypes: string[];
}

export interface LivePools {
  /** They are in the order of their names. */
  livePools(): Promise<LivePool[]>;
}

const WAYS = {
  observers: { name: "type", field: "types", creates: "POST /api/v1/observers, or unacked create" },
  tasks: { name: "task type", field: "taskTypes", creates: "POST /api/v1/tasks, or unacked run" },
} as const;

interface Where {
  pool: string;
  type: string;
}

/**
 * Says which pools know the type, or, where nobody does, whether it is a type of the other kind. It is looked for once, however many have
 * it.
 *
 * @param within nothing is told of other pools, or of types of the other kind; undefined: of all
 */
export function unknownTypes(
  kind: "observers" | "tasks",
  pools: LivePool[],
  within?: readonly string[],
): (refusal: Refusal, where: Where) => Refusal {
  const told = new Map<string, Told>();
  return (refusal, where) => {
    const key = `${where.pool} ${where.type}`; // a pool has no blank
    const words = told.get(key) ?? wordsOf(kind, where, pools, within);
    told.set(key, words);
    return { ...refusal, ...words };
  };
}

type Told = Required<Pick<Refusal, "detail" | "knownPools">>;

function wordsOf(
  kind: "observers" | "tasks",
  { pool, type }: Where,
  pools: LivePool[],
  within: readonly string[] | undefined,
): Told {
  const { name, field } = WAYS[kind];
  const detail = `No living service of the pool "${pool}" knows the ${name} "${type}"`;
  const knownPools = pools.flatMap((one) =>
    one[field].includes(type) && (within?.includes(one.pool) ?? true) ? [one.pool] : [],
  );
  if (knownPools.length > 0) {
    const where = `known in ${knownPools.length === 1 ? "pool" : "pools"} ${named(knownPools)}`;
    const areFew = knownPools.length <= MAX_NAMED;
    const choice = areFew ? knownPools.map((one) => `"${one}"`).join(" or ") : `"${knownPools[0]}" or another of these`;
    const remedy = `send pool ${choice}`;
    return { detail: `${detail}; ${where}: ${remedy}`, knownPools };
  }
  if (within !== undefined) return { detail: `${detail}, nor does one of another pool that you may have`, knownPools };
  const other = kind === "tasks" ? "observers" : "tasks";
  const isOther = pools.some((one) => one[WAYS[other].field].includes(type));
  const why = isOther ? `; it is a type of ${other}: ${WAYS[other].creates}` : ", nor does one of another pool";
  return { detail: `${detail}${why}`, knownPools };
}
