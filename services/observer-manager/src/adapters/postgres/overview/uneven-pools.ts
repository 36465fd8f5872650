import type { ServiceView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { UnevenPool } from "../../../domain/overview/warnings.ts";
import { planFor } from "../../../operations/balance/next-step.ts";
import { readStandings } from "../balance/pool-standings.ts";

type Known = Pick<ServiceView, "pool" | "types">;

/**
 * Of pools that are uneven by their counts those in which a rebalance would move something. Where all services of a pool have the same types that
 * is each; else it goes by what runs where, which is read of these pools alone, as it is a look at each of their observers.
 */
export async function withMoves(
  dataSource: DataSource,
  uneven: readonly UnevenPool[],
  services: readonly Known[],
): Promise<UnevenPool[]> {
  const movable: UnevenPool[] = [];
  for (const each of uneven) {
    const { pool } = each;
    const moves = haveSameTypes(services.filter((one) => one.pool === pool)) ? each.moves : await movesOf(dataSource, pool);
    if (moves > 0) movable.push({ ...each, moves });
  }
  return movable;
}

const haveSameTypes = (services: readonly Known[]): boolean =>
  new Set(services.map(({ types }) => types.toSorted().join())).size < 2;

async function movesOf(dataSource: DataSource, pool: string): Promise<number> {
  const standing = (await readStandings(dataSource, pool)).get(pool);
  return standing === undefined ? 0 : planFor(standing).moves;
}
