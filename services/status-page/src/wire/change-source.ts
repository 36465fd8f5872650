import type { ObserverView, ServiceView } from "@unacked/contracts";

export interface ChangeSink {
  observer(view: ObserverView): void;
  service(view: ServiceView): void;
  /** From here on every change comes. `missed`: some did not; read the lists anew. */
  ready(missed: boolean): void;
  broken(): void;
}

const REOPEN_MS = 2_000;

/**
 * Follows `GET /events`. A stream that breaks off goes on where it was: the browser tells the last event's id, and the manager
 * sends what came since, or says that it cannot (`resync`). Opened anew after an answer that is no stream, all is missed.
 */
export function followChanges(sink: ChangeSink): () => void {
  let stream: EventSource | undefined;
  let reopening: ReturnType<typeof setTimeout> | undefined;
  let hasSeenAll = false;

  function open(): void {
    const opened = new EventSource("/api/v1/events");
    stream = opened;
    let isReady = false;
    const tellReady = () => {
      isReady = true;
      sink.ready(!hasSeenAll);
      hasSeenAll = true;
    };
    opened.addEventListener("ready", tellReady);
    opened.addEventListener("resync", () => {
      hasSeenAll = false;
      if (isReady) tellReady(); // a stream that fell behind says `ready` no second time
    });
    opened.addEventListener("observer", ({ data }) => sink.observer(JSON.parse(data)));
    opened.addEventListener("service", ({ data }) => sink.service(JSON.parse(data)));
    opened.addEventListener("error", () => {
      isReady = false;
      sink.broken();
      // The browser gives up for good after an answer that is no stream (a proxy's 503, say).
      if (opened.readyState !== EventSource.CLOSED) return;
      hasSeenAll = false;
      reopening = setTimeout(open, REOPEN_MS);
    });
  }

  open();
  return () => {
    clearTimeout(reopening);
    stream?.close();
  };
}
