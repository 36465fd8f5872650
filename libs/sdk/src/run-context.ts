import type { LogFields, LogLevel, ObserverContext, ObserverIdentity, ObserverLog } from "./observer-context.ts";
import { isObserverStopped, type ObserverStopped } from "./observer-stopped.ts";
import { SdkError } from "./sdk-error.ts";

/** What a host (a service, the harness) brings to a run. Its methods are called as such, so that it may be an object with a life. */
export type RunContextParts<P> = {
  readonly params: P;
  readonly observer: ObserverIdentity;
  readonly runId: string;
  /** How long an emit may wait for its confirm once the run was told to stop, milliseconds. */
  readonly stopTimeoutMs: number;
  /** Takes a line of the run's log. */
  writeLog(level: LogLevel, message: string, fields?: LogFields): void;
  /** Publishes an event, already written as JSON; resolves when it is confirmed. */
  publish(eventJson: string): Promise<void>;
};

/** A context, and what its host tells it. */
export type RunContext<P> = {
  readonly context: ObserverContext<P>;
  /**
   * Aborts the signal, the first time. `lease-lost`, also as a later call, rejects with the reason every emit that waits
   * and every one to come; any other reason gives each of them `stopTimeoutMs`.
   */
  stop(reason: ObserverStopped): void;
  /** The handler has settled. */
  end(): void;
};

/** Builds what a handler gets, for hosts; service and harness share it so that `emit` keeps its promises in both. */
export function createRunContext<P>(parts: RunContextParts<P>): RunContext<P> {
  return new PartsContext(parts);
}

/** An emit whose confirm has not come. */
type PendingEmit = { readonly reject: (error: Error) => void; giveUp?: NodeJS.Timeout };

/** There is one for each of many thousand runs, hence methods rather than functions of its own. */
class PartsContext<P> implements RunContext<P> {
  readonly context: ObserverContext<P>;
  readonly #parts: RunContextParts<P>;
  readonly #controller = new AbortController();
  /** Made when something is emitted. */
  #pending: Set<PendingEmit> | undefined;
  #leaseLost: ObserverStopped | undefined;
  #ended = false;
  #warnedOfStop = false;

  constructor(parts: RunContextParts<P>) {
    this.#parts = parts;
    const { params, observer, runId } = parts;
    const { signal } = this.#controller;
    const log: ObserverLog = Object.freeze({
      debug: (message: string, fields?: LogFields) => parts.writeLog("debug", message, fields),
      info: (message: string, fields?: LogFields) => parts.writeLog("info", message, fields),
      warn: (message: string, fields?: LogFields) => parts.writeLog("warn", message, fields),
      error: (message: string, fields?: LogFields) => parts.writeLog("error", message, fields),
    });
    this.context = Object.freeze({ params, signal, log, emit: (event: unknown) => this.#emit(event), observer, runId });
  }

  stop(reason: ObserverStopped): void {
    const isFirst = !this.context.signal.aborted;
    if (reason.code === "lease-lost") {
      this.#leaseLost ??= reason;
      for (const { reject } of this.#pending ?? []) reject(reason);
    } else if (isFirst) {
      for (const pending of this.#pending ?? []) this.#limit(pending, reason);
    }
    this.#controller.abort(reason);
  }

  end(): void {
    this.#ended = true;
  }

  #emit(event: unknown): Promise<void> {
    const published = this.#publish(event);
    // This handler makes an emit that nobody awaits safe; one who awaits it still gets the rejection.
    published.catch((error: unknown) => this.#warn(error));
    return published;
  }

  async #publish(event: unknown): Promise<void> {
    if (this.#ended) {
      throw new SdkError("emit-after-end", "emit was called after the run had ended; the event is not sent");
    }
    if (this.#leaseLost !== undefined) {
      // A turn later: a handler that emits again whatever comes back would else let nothing else of the process run.
      await new Promise((resolve) => setImmediate(resolve));
      throw this.#leaseLost;
    }
    await this.#untilGivenUp(this.#parts.publish(toJson(event)));
  }

  /** As `sent` settles, unless a stop settles it first. */
  #untilGivenUp(sent: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(pending.giveUp);
        this.#pending?.delete(pending);
      };
      const rejectWith = (error: unknown): void => {
        over();
        reject(error);
      };
      const pending: PendingEmit = { reject: rejectWith };
      this.#pending ??= new Set();
      this.#pending.add(pending);
      const { aborted, reason } = this.context.signal;
      if (aborted) this.#limit(pending, reason as ObserverStopped);
      sent.then(() => {
        over();
        resolve();
      }, rejectWith);
    });
  }

  #limit(pending: PendingEmit, reason: ObserverStopped): void {
    pending.giveUp = setTimeout(() => pending.reject(reason), this.#parts.stopTimeoutMs);
    pending.giveUp.unref();
  }

  /** One line for all that a stop, or the end, has refused: a run that leaves a timer behind would otherwise fill the log. */
  #warn(error: unknown): void {
    const afterStop = isObserverStopped(error) || (error instanceof SdkError && error.code === "emit-after-end");
    if (afterStop && this.#warnedOfStop) return;
    this.#warnedOfStop ||= afterStop;
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
