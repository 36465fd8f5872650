import type { TracingLog } from "./tracing.ts";

/** The pause between two lines about the same collector that takes nothing. */
const REMINDER_MS = 600_000;

/** Logs that spans do not arrive, and that they do again: a line each, and a reminder, however many are lost. */
export class ExportWatch {
  readonly #log: TracingLog;
  readonly #nowMs: () => number;
  #lost = 0;
  #saidAtMs: number | undefined;

  /** @param nowMs monotonic */
  constructor(log: TracingLog, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  failed(spans: number, error: unknown): void {
    this.#lost += spans;
    const nowMs = this.#nowMs();
    if (this.#saidAtMs !== undefined && nowMs - this.#saidAtMs < REMINDER_MS) return;
    this.#saidAtMs = nowMs;
    this.#log.warn(
      { event: "spans-lost", lost: this.#lost, reason: reasonOf(error) },
      "the collector accepts no spans; until it does they are lost, but nothing else is",
    );
  }

  arrived(): void {
    if (this.#saidAtMs === undefined) return;
    this.#log.info({ event: "spans-arrive", lost: this.#lost }, "the collector takes spans again");
    this.#saidAtMs = undefined;
    this.#lost = 0;
  }
}

/** An error of a connection that was tried at several addresses has a code and no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error ?? "unknown").slice(0, 200);
  const { code } = error as NodeJS.ErrnoException;
  return (
    [code, error.message]
      .filter((part) => part !== undefined && part !== "")
      .join(": ")
      .slice(0, 200) || error.name
  );
}
