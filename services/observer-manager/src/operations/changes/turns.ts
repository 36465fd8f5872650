/** Does what it is given, no more than so many at a time: who comes then waits in turn. */
export type Turns = <T>(act: () => Promise<T>) => Promise<T>;

export function inTurns(atOnce: number): Turns {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (act) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
