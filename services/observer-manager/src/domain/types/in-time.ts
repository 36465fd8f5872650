import { createContext, Script } from "node:vm";

const box = createContext({ work: undefined as unknown });
const script = new Script("work()");

/**
 * Does what may take for ever, as a regular expression that somebody else wrote. V8 is told to end it by a thread of its own: some 60 µs, and
 * nothing else in this process could. It is told by the clock: on a machine that has much else to do, the work is begun again until it has
 * really had its time, so it must be able to begin again after it was ended at any place. What the work throws is thrown.
 *
 * @param limitMs of CPU, in which all others wait
 * @returns undefined: it was ended
 */
export function inTime<Result>(limitMs: number, work: () => Result): { result: Result } | undefined {
  const began = process.cpuUsage();
  for (;;) {
    const done = withinLimit(limitMs, work);
    const { user, system } = process.cpuUsage(began);
    if (done !== undefined || (user + system) / 1_000 >= limitMs) return done;
  }
}

function withinLimit<Result>(limitMs: number, work: () => Result): { result: Result } | undefined {
  box["work"] = () => ({ result: work() });
  try {
    return script.runInContext(box, { timeout: limitMs }) as { result: Result };
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw error;
  } finally {
    box["work"] = undefined;
  }
}
