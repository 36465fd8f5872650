import type { FigureSpan } from "../../../domain/tasks/figure-bars.ts";
import type { FigureRow, TaskStandings } from "../../../domain/tasks/figures-overview.ts";

/** What the ledger, and whoever else writes tasks, adds to in its own transactions. Kept by the minute for two days, by the hour for thirty. */
export interface TaskFigureStore {
  /** Folds what was added into minutes and hours. @returns how many additions that were; at most `limit` */
  fold(limit: number): Promise<number>;
  /** Forgets figures that are too old. @returns how many went; at most `limit` */
  forgetOld(limit: number): Promise<number>;
  /** Exact as of now, folded or not. `sinceMs` is the beginning of a minute or hour. */
  read(query: {
    by: FigureSpan;
    sinceMs: number;
    type?: string | undefined;
    pool?: string | undefined;
  }): Promise<FigureRow[]>;
  /** A living service has the type, somebody has limited it, or there is a task of it. */
  isKnown(type: string): Promise<boolean>;
  standings(): Promise<TaskStandings>;
  /** The clock is the one that figures are kept by. */
  nowMs(): Promise<number>;
}
