import type { ServiceView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { UnevenPool } from "../../../domain/overview/facts.ts";
import { planFor } from "../../../operations/balance/next-step.ts";
import { readStandings } from "../balance/pool-standings.ts";

type Known = Pick<ServiceView, "pool" | "types">;

/**
 * Moves are remembered for so long: finding them is a look at each observer of the pool, while the figures are asked for
 * each few seconds.
 */
const REMEMBERED_MS = 15_000;

/**
 * Picks those pools, uneven by their counts, in which a rebalance would move something. A pool whose services all have the same types is
 * one; for the others it depends on what runs where, which is read for these pools alone, and remembered for 15 s.
 */
export class UnevenPools {
  readonly #dataSource: DataSource;
  readonly #seen = new Map<string, { moves: number; atMs: number }>();

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async withMoves(uneven: readonly UnevenPool[], services: readonly Known[]): Promise<UnevenPool[]> {
    const movable: UnevenPool[] = [];
    for (const each of uneven) {
      const { pool } = each;
      const moves = haveSameTypes(services.filter((one) => one.pool === pool)) ? each.moves : await this.#movesOf(pool);
      if (moves > 0) movable.push({ ...each, moves });
    }
    for (const pool of this.#seen.keys()) if (!uneven.some((each) => each.pool === pool)) this.#seen.delete(pool);
    return movable;
  }

  async #movesOf(pool: string): Promise<number> {
    const seen = this.#seen.get(pool);
    if (seen !== undefined && performance.now() - seen.atMs < REMEMBERED_MS) return seen.moves;
    const standing = (await readStandings(this.#dataSource, pool)).get(pool);
    const moves = standing === undefined ? 0 : planFor(standing).moves;
    this.#seen.set(pool, { moves, atMs: performance.now() });
    return moves;
  }
}

const haveSameTypes = (services: readonly Known[]): boolean =>
  new Set(services.map(({ types }) => types.toSorted().join())).size < 2;
