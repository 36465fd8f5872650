import type { LogFields, LogLevel, ObserverContext, ObserverIdentity, ObserverLog } from "./observer-context.ts";
import { SdkError } from "./sdk-error.ts";

/** What a host (a service, the harness) brings to a run. Its methods are called as such, so that it may be an object with a life. */
export type RunContextParts<P> = {
  readonly params: P;
  readonly signal: AbortSignal;
  readonly observer: ObserverIdentity;
  readonly runId: string;
  /** Takes a line of the run's log. */
  writeLog(level: LogLevel, message: string, fields?: LogFields): void;
  /** Publishes an event, already written as JSON; resolves when it is confirmed. */
  publish(eventJson: string): Promise<void>;
};

/** A context, and the word that its run has ended: call `end` once the handler has settled. */
export type RunContext<P> = { readonly context: ObserverContext<P>; end(): void };

/** Builds what a handler gets, for hosts; service and harness share it so that `emit` keeps its promises in both. */
export function createRunContext<P>(parts: RunContextParts<P>): RunContext<P> {
  return new PartsContext(parts);
}

/** There is one for each of many thousand runs, hence methods rather than functions of its own. */
class PartsContext<P> implements RunContext<P> {
  readonly context: ObserverContext<P>;
  readonly #parts: RunContextParts<P>;
  #ended = false;
  #warnedAfterEnd = false;

  constructor(parts: RunContextParts<P>) {
    this.#parts = parts;
    const { params, signal, observer, runId } = parts;
    const log: ObserverLog = Object.freeze({
      debug: (message: string, fields?: LogFields) => parts.writeLog("debug", message, fields),
      info: (message: string, fields?: LogFields) => parts.writeLog("info", message, fields),
      warn: (message: string, fields?: LogFields) => parts.writeLog("warn", message, fields),
      error: (message: string, fields?: LogFields) => parts.writeLog("error", message, fields),
    });
    this.context = Object.freeze({ params, signal, log, emit: (event: unknown) => this.#emit(event), observer, runId });
  }

  end(): void {
    this.#ended = true;
  }

  #emit(event: unknown): Promise<void> {
    const published = this.#publish(event);
    // This handler makes an emit that nobody awaits safe; whoever awaits it still gets the rejection.
    published.catch((error: unknown) => this.#warn(error));
    return published;
  }

  async #publish(event: unknown): Promise<void> {
    if (this.#ended) {
      throw new SdkError("emit-after-end", "emit was called after the run had ended; the event is not sent");
    }
    await this.#parts.publish(toJson(event));
  }

  /** A run that has ended but left a timer behind would otherwise fill the log. */
  #warn(error: unknown): void {
    const afterEnd = error instanceof SdkError && error.code === "emit-after-end";
    if (afterEnd && this.#warnedAfterEnd) return;
    this.#warnedAfterEnd ||= afterEnd;
    this.#parts.writeLog("warn", "an emitted event was not published", { error: String(error) });
  }
}

function toJson(event: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(event);
  } catch (cause) {
    throw new SdkError("event-not-json", `the event cannot be written as JSON: ${String(cause)}`, { cause });
  }
  if (json === undefined) {
    throw new SdkError("event-not-json", `the event cannot be written as JSON: it is of type ${typeof event}`);
  }
  return json;
}
