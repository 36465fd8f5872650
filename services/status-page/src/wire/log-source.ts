import type { LogEvent, LogEventName } from "@unacked/contracts";
import { CallError, call } from "./call.ts";

export interface LogSink {
  event(event: LogEvent): void;
  /** The stream is open: what was wrong is not any more. */
  opened(): void;
  /** It broke off and is opened again and again; null: the manager gave no reason. */
  broken(failure: CallError | null): void;
}

const EVENTS = { run: 0, entry: 0, omitted: 0, waiting: 0, end: 0 } satisfies Record<LogEventName, 0>;
const REOPEN_MS = 2_000;
/** What it said before one came to look. */
const BEFORE = 100;

/**
 * Follows `GET /observers/{id}/logs` until the observer is over. A stream that breaks off goes on where it was: the browser tells
 * the last event's id. An answer that is no stream cannot be read by it, so the reason is asked for by a call of its own.
 */
export function followLogs(id: string, sink: LogSink): () => void {
  const path = `/observers/${encodeURIComponent(id)}/logs`;
  const ending = new AbortController();
  let stream: EventSource | undefined;
  let reopening: ReturnType<typeof setTimeout> | undefined;

  const open = (): void => {
    const opened = new EventSource(`/api/v1${path}?follow=true&limit=${BEFORE}`);
    stream = opened;
    opened.addEventListener("open", () => sink.opened());
    for (const name of Object.keys(EVENTS) as LogEventName[]) {
      opened.addEventListener(name, ({ data }) => {
        sink.event({ name, data: JSON.parse(data) } as LogEvent);
        if (name === "end") opened.close(); // it would be opened anew
      });
    }
    opened.addEventListener("error", () => {
      if (opened.readyState === EventSource.CLOSED) void reopen();
      else sink.broken(null);
    });
  };

  const reopen = async (): Promise<void> => {
    const failure = await call("GET", `${path}?limit=0`, { signal: ending.signal }).then(
      () => null,
      (error: unknown) => (error instanceof CallError ? error : null),
    );
    if (ending.signal.aborted) return;
    sink.broken(failure);
    reopening = setTimeout(open, REOPEN_MS);
  };

  open();
  return () => {
    ending.abort();
    clearTimeout(reopening);
    stream?.close();
  };
}
