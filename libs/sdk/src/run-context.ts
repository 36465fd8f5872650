import type { LogFields, LogLevel, ObserverContext, ObserverIdentity, ObserverLog } from "./observer-context.ts";
import { SdkError } from "./sdk-error.ts";

/** What a host (a service, the harness) brings to a run. */
export type RunContextParts<P> = {
  readonly params: P;
  readonly signal: AbortSignal;
  readonly observer: ObserverIdentity;
  readonly runId: string;
  /** Takes a line of the run's log. */
  readonly writeLog: (level: LogLevel, message: string, fields?: LogFields) => void;
  /** Publishes an event, already written as JSON; resolves when it is confirmed. */
  readonly publish: (eventJson: string) => Promise<void>;
};

/** A context, and the word that its run has ended: call `end` once the handler has settled. */
export type RunContext<P> = { readonly context: ObserverContext<P>; readonly end: () => void };

/** Builds what a handler gets, for hosts; service and harness share it so that `emit` keeps its promises in both. */
export function createRunContext<P>(parts: RunContextParts<P>): RunContext<P> {
  const { params, signal, observer, runId, writeLog } = parts;
  const log: ObserverLog = Object.freeze({
    debug: (message: string, fields?: LogFields) => writeLog("debug", message, fields),
    info: (message: string, fields?: LogFields) => writeLog("info", message, fields),
    warn: (message: string, fields?: LogFields) => writeLog("warn", message, fields),
    error: (message: string, fields?: LogFields) => writeLog("error", message, fields),
  });
  const { emit, end } = createEmit(parts.publish, log);
  return { context: Object.freeze({ params, signal, log, emit, observer, runId }), end };
}

function createEmit(publish: RunContextParts<unknown>["publish"], log: ObserverLog) {
  let ended = false;
  let warnedAfterEnd = false;

  const publishEvent = async (event: unknown): Promise<void> => {
    if (ended) {
      throw new SdkError("emit-after-end", "emit was called after the run had ended; the event is not sent");
    }
    await publish(toJson(event));
  };

  // A run that has ended but left a timer behind would otherwise fill the log.
  const warn = (error: unknown) => {
    const afterEnd = error instanceof SdkError && error.code === "emit-after-end";
    if (afterEnd && warnedAfterEnd) return;
    warnedAfterEnd ||= afterEnd;
    log.warn("an emitted event was not published", { error: String(error) });
  };

  return {
    emit: (event: unknown): Promise<void> => {
      const published = publishEvent(event);
      // This handler makes an emit that nobody awaits safe; whoever awaits it still gets the rejection.
      published.catch(warn);
      return published;
    },
    end: () => {
      ended = true;
    },
  };
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
