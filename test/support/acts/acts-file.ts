import { closeSync, openSync, readSync } from "node:fs";
import type { Act } from "./invariants.ts";

const CHUNK_BYTES = 1_048_576;

/** What observers have written into a file of their acts, read on as it grows: it comes to megabytes, and tests look all the time. */
export class ActsFile {
  readonly #path: string;
  readonly #acts: Act[] = [];
  #readBytes = 0;
  /** The beginning of a line whose end is not written yet. */
  #rest = "";

  constructor(path: string) {
    this.#path = path;
  }

  /** All so far, in the order they were written; none where nobody has acted yet. */
  all(): Act[] {
    this.#readOn();
    return this.#acts;
  }

  /** Drops what is older, once it has been judged: for tests that go on for long. */
  forgetBefore(ns: bigint): void {
    const kept = this.all().filter((act) => act.monotonicNs >= ns);
    this.#acts.splice(0, this.#acts.length, ...kept);
  }

  #readOn(): void {
    let file: number;
    try {
      file = openSync(this.#path, "r");
    } catch {
      return; // nobody has acted yet
    }
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let read = -1; read !== 0; this.#readBytes += read) {
      read = readSync(file, chunk, 0, chunk.length, this.#readBytes);
      this.#rest += chunk.toString("latin1", 0, read);
    }
    closeSync(file);
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    // A process that was killed may have left half a line.
    for (const line of lines) if (line.endsWith("}")) this.#acts.push(actIn(line));
  }
}

/** The act that a line of such a file tells. */
export function actIn(line: string): Act {
  const act = JSON.parse(line) as Omit<Act, "monotonicNs"> & { monotonicNs: string };
  return { ...act, monotonicNs: BigInt(act.monotonicNs) };
}
