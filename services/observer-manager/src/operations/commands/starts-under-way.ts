import { sizeOfParams } from "../together.ts";
import type { DueCommand } from "./command-store.ts";

/** So many starts may wait for their confirms; one with long params counts for more. One pool has half of it at most. */
const MAX_UNDER_WAY = 8_000;
/** A pool has room for so many, whatever the others have. */
const MIN_OF_POOL = 100;
/** A pool with less room waits for more: else most of what it is claimed for would be given back. */
const WORTH_A_CLAIM = 1_000;

/** A pool that takes none is left alone for so long: its starts, which are due first, would come again and again before all others. */
const REST_MS = 1_000;

/** A part of a claim that is sent, confirmed and settled by itself. `pool` undefined: its commands are no starts. */
export interface ClaimPart {
  pool: string | undefined;
  size: number;
  due: DueCommand[];
}

/**
 * Starts that wait for their confirms, by pool: each has as many as are left free for others. However many a pool's queue does not confirm, and
 * however many such queues there are, others have room: beside one that confirms none 4,000, beside two 2,600, beside nine 800. (A dynamic
 * threshold: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches".)
 */
export class StartsUnderWay {
  readonly #byPool = new Map<string, number>();
  readonly #restsUntilMs = new Map<string, number>();
  #size = 0;

  /** Pools whose starts are not to be claimed now. */
  get fullPools(): string[] {
    for (const [pool, untilMs] of this.#restsUntilMs) if (performance.now() >= untilMs) this.#restsUntilMs.delete(pool);
    const full = [...this.#byPool].flatMap(([pool, size]) => (this.roomOfPool - size < WORTH_A_CLAIM ? pool : []));
    return [...new Set([...full, ...this.#restsUntilMs.keys()])];
  }

  /** The parts are under way from now on. `beyond`: starts for whose pools there is no room. */
  begin(due: readonly DueCommand[]): { parts: ClaimPart[]; beyond: DueCommand[] } {
    const parts = new Map<string | undefined, ClaimPart>();
    const beyond: DueCommand[] = [];
    for (const command of due) {
      const pool = poolOf(command);
      if (pool !== undefined && (this.#byPool.get(pool) ?? 0) >= this.roomOfPool) beyond.push(command);
      else this.#add(parts, pool, command);
    }
    return { parts: [...parts.values()], beyond };
  }

  /** @param isAnyTaken whether the broker has taken one of its starts */
  end({ pool, size }: ClaimPart, isAnyTaken: boolean): void {
    if (pool === undefined) return;
    if (!isAnyTaken) this.#restsUntilMs.set(pool, performance.now() + REST_MS);
    this.#size -= size;
    const left = (this.#byPool.get(pool) ?? 0) - size;
    if (left >= 1) this.#byPool.set(pool, left);
    else this.#byPool.delete(pool);
  }

  /** How much of each pool may be under way now. */
  get roomOfPool(): number {
    return Math.max(MIN_OF_POOL, MAX_UNDER_WAY - this.#size);
  }

  #add(parts: Map<string | undefined, ClaimPart>, pool: string | undefined, command: DueCommand): void {
    const part = parts.get(pool) ?? { pool, size: 0, due: [] };
    parts.set(pool, part);
    part.due.push(command);
    if (pool === undefined) return;
    const size = sizeOfStart(command);
    part.size += size;
    this.#size += size;
    this.#byPool.set(pool, (this.#byPool.get(pool) ?? 0) + size);
  }
}

/** Undefined: it is no start, or one that nobody wants any more. */
const poolOf = (command: DueCommand): string | undefined => (command.kind === "start" ? command.start?.pool : undefined);

export const sizeOfStart = (command: DueCommand): number =>
  command.kind === "start" ? sizeOfParams(command.start?.params ?? null) : 0;
