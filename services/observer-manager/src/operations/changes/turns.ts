import type { ChangeLog } from "./change-log.ts";

/** The same books, of which no more than `atOnce` pages and counts are asked for at a time; who asks then waits in turn. */
export function inTurns(log: ChangeLog, atOnce: number): ChangeLog {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  const inTurn = async <T>(read: () => Promise<T>): Promise<T> => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await read();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
  return {
    horizon: () => log.horizon(),
    count: (...asked) => inTurn(() => log.count(...asked)),
    page: (...asked) => inTurn(() => log.page(...asked)),
  };
}
