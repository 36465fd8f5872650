import type { Actor } from "../../domain/access/identity.ts";
import type { Refusal } from "../refusal.ts";

/** What a manager takes of streams of logs; each asks a service twice a second. */
export interface LogStreamLimits {
  ofOneCaller: number;
  inAll: number;
}

export const LOG_STREAM_LIMITS: LogStreamLimits = { ofOneCaller: 50, inAll: 500 };

/** Counts the open streams of logs by who follows them; somebody who is not known counts by address. */
export class LogStreams {
  readonly #limits: LogStreamLimits;
  readonly #byCaller = new Map<string, number>();
  #open = 0;

  constructor(limits: LogStreamLimits) {
    this.#limits = limits;
  }

  /** Why there can be no more, or null. */
  refusal(by: Actor): Refusal | null {
    const { ofOneCaller, inAll } = this.#limits;
    if (this.#of(by) >= ofOneCaller)
      return {
        kind: "problem",
        code: "too-many-log-streams",
        detail: `One caller may follow the logs of ${ofOneCaller} observers at a time at one manager`,
      };
    if (this.#open < inAll) return null;
    return {
      kind: "problem",
      code: "logs-unavailable",
      detail: `This manager has ${inAll} log streams open, and accepts no more`,
    };
  }

  opened(by: Actor): void {
    this.#open += 1;
    this.#byCaller.set(keyOf(by), this.#of(by) + 1);
  }

  closed(by: Actor): void {
    this.#open -= 1;
    const left = this.#of(by) - 1;
    if (left > 0) this.#byCaller.set(keyOf(by), left);
    else this.#byCaller.delete(keyOf(by));
  }

  #of(by: Actor): number {
    return this.#byCaller.get(keyOf(by)) ?? 0;
  }
}

const keyOf = ({ authentication, name, address }: Actor): string =>
  authentication === "anonymous" ? address : `${authentication} ${name}`;
