import { closeSync, openSync, readSync } from "node:fs";

/** What an observer of the type `counter` has written beside its acts. */
export interface Save {
  observerId: string;
  runId: string;
  fencingToken: number;
  n: number;
  kind: "given" | "resolved" | "refused";
}

/**
 * Reads on in their file, in the order in which they were written, and judges as it goes: nobody starts below what was saved before, by any run of
 * the observer, under a held lease.
 */
export class SaveLog {
  readonly counts = { given: 0, resolved: 0, refused: 0 };
  /** What is against it, in words. */
  readonly below: string[] = [];
  /** Starts whose token is not above all before. */
  readonly tokensBack: string[] = [];
  /** By observer: the highest that was saved. */
  readonly reached = new Map<string, number>();
  readonly #tokens = new Map<string, number>();
  readonly #file: string;
  #read = 0;
  #rest = "";

  /** @param actsFile beside which it is */
  constructor(actsFile: string) {
    this.#file = `${actsFile}.saves`;
  }

  readOn(): this {
    let file: number;
    try {
      file = openSync(this.#file, "r");
    } catch {
      return this; // nobody has begun yet
    }
    const chunk = Buffer.allocUnsafe(1_048_576);
    for (let read = -1; read !== 0; this.#read += read) {
      read = readSync(file, chunk, 0, chunk.length, this.#read);
      const lines = (this.#rest + chunk.toString("latin1", 0, read)).split("\n");
      this.#rest = lines.pop() ?? "";
      // A process that was killed may have left half a line.
      for (const line of lines) if (line.endsWith("}")) this.#judge(JSON.parse(line) as Save);
    }
    closeSync(file);
    return this;
  }

  #judge({ kind, observerId, runId, n, fencingToken }: Save): void {
    this.counts[kind] += 1;
    const reached = this.reached.get(observerId) ?? 0;
    if (kind === "resolved" && n > reached) this.reached.set(observerId, n);
    if (kind !== "given") return;
    if (n < reached) this.below.push(`${observerId} ${runId}: ${n} after ${reached}`);
    const before = this.#tokens.get(observerId) ?? 0;
    // Attempts of one run have one token.
    if (fencingToken < before) this.tokensBack.push(`${observerId} ${runId}: ${fencingToken} after ${before}`);
    this.#tokens.set(observerId, Math.max(before, fencingToken));
  }
}
