/** The options of `unacked dev`; see commands/dev.ts. */
export interface DevOptions {
  /** The folder of the observers. Undefined means `observers` or `src/observers`. */
  readonly dir: string | undefined;
  /** The port of the page and the REST interface. 0 means any free one. */
  readonly port: number;
  /** Whether it begins with empty data. */
  readonly fresh: boolean;
  /** The sources and types whose lines are shown. An empty list means all. */
  readonly only: readonly string[];
}

/**
 * Resolves when everything that it has started has ended. @throws DevError: its message says what is wrong and what to do
 */
export function dev(options: DevOptions): Promise<void>;

/** A failure whose message says everything. */
export class DevError extends Error {}
