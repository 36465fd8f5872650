import { readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";

const TASKS = "/proc/self/task";
/** As libuv has it, where UV_THREADPOOL_SIZE does not say. */
const SIZE = 4;

/**
 * The threads of Node's pool. Not in every version of Node does a name tell them from others; but all of them start with the first call, so just after one,
 * and before any worker has been started, they are the newest.
 */
export class PoolThreads {
  #ids: readonly number[] = [];

  /** To be asked before any worker is started. */
  async find(): Promise<void> {
    await stat("/");
    const size = Number(process.env["UV_THREADPOOL_SIZE"]) || SIZE;
    try {
      this.#ids = readdirSync(TASKS)
        .map(Number)
        .toSorted((a, b) => a - b)
        .slice(-size);
    } catch {
      // No /proc: it cannot be told.
    }
  }

  /** The processor time that they have taken, in the system's ticks; undefined: it cannot be told. */
  ticks(): number | undefined {
    if (this.#ids.length === 0) return undefined;
    try {
      return this.#ids.reduce((sum, id) => sum + ticksOf(id), 0);
    } catch {
      return undefined;
    }
  }
}

/** utime and stime of proc(5), stat: the 14th and 15th field. The second may have spaces, and ends with a bracket. */
function ticksOf(id: number): number {
  const stat = readFileSync(`${TASKS}/${id}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
