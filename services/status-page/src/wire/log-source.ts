import type { ObserverLogs } from "@unacked/contracts";
import { CallError, call } from "./call.ts";

export interface LogSink {
  /** What there is now. @returns whether more may come */
  read(logs: ObserverLogs): boolean;
  /** It could not be read, and is tried again. */
  failed(failure: CallError): void;
}

const EVERY_MS = 1_000;
const AGAIN_MS = 2_000;

/**
 * Asks for what an observer says, again and again for as long as somebody can see the page, until nothing more comes. Asked, not
 * followed: a stream for each page would take one of the six connections that a browser has to the manager.
 */
export function followLogs(id: string, sink: LogSink): () => void {
  const ending = new AbortController();
  void askUntilOver(id, sink, ending.signal);
  return () => ending.abort();
}

async function askUntilOver(ref: string, sink: LogSink, signal: AbortSignal): Promise<void> {
  for (let goesOn = true; goesOn && !signal.aborted; ) {
    await untilVisible(signal);
    const answer = await call("getLogs", { path: { ref }, query: { limit: 100 } }, signal).catch((error: unknown) => error);
    if (signal.aborted) return;
    if (answer instanceof CallError) sink.failed(answer);
    else goesOn = sink.read(answer as ObserverLogs);
    await new Promise((resolve) => setTimeout(resolve, answer instanceof CallError ? AGAIN_MS : EVERY_MS));
  }
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (!document.hidden || signal.aborted) return resolve();
    document.addEventListener("visibilitychange", () => resolve(), { once: true, signal });
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
