/** What `unacked dev` is asked for; see commands/dev.ts. */
export interface DevOptions {
  /** The folder of the observers; undefined: `observers` or `src/observers`. */
  readonly dir: string | undefined;
  /** Of the page and the REST interface; 0: any free one. */
  readonly port: number;
  /** Begins with empty data. */
  readonly fresh: boolean;
  /** Sources and types whose lines are shown; none: all. */
  readonly only: readonly string[];
}

/** Resolves when everything that it has started has ended. @throws DevError: what is wrong and what to do, in its message */
export function dev(options: DevOptions): Promise<void>;

/** A failure whose message says all. */
export class DevError extends Error {}
