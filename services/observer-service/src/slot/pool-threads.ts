import { readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";

const TASKS = "/proc/self/task";
/** libuv's default, if UV_THREADPOOL_SIZE is not set. */
const SIZE = 4;

/**
 * The threads of Node's pool. Not every version of Node names them, but all of them start with the first call. So just after that, and
 * before any worker has been started, they are the newest threads.
 */
export class PoolThreads {
  #ids: readonly number[] = [];

  /** Must be called before any worker is started. */
  async find(): Promise<void> {
    await stat("/");
    const size = Number(process.env["UV_THREADPOOL_SIZE"]) || SIZE;
    try {
      this.#ids = readdirSync(TASKS)
        .map(Number)
        .toSorted((a, b) => a - b)
        .slice(-size);
    } catch {
      // Without /proc it is not known.
    }
  }

  /** The processor time of the threads, in the system's ticks. Undefined if it is not known. */
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
