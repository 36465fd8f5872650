import type { EventBlock } from "@unacked/client";
import type { ObserverView, ServiceView } from "@unacked/contracts";
import { tellUnauthorized } from "./call.ts";
import { ChangeHub, type HubSays, type TabSays } from "./change-hub.ts";

export interface ChangeSink {
  observer(view: ObserverView): void;
  service(view: ServiceView): void;
  /** From here on every change comes. `missed`: some did not; read the lists again. */
  ready(missed: boolean): void;
  /** Nothing has come since `lastHeardMs`, by the browser's clock; it is tried again. */
  broken(lastHeardMs: number): void;
  /** Nobody looks at this tab, and nothing comes until somebody does. */
  resting(): void;
}

/** So often a tab says that it is looked at; a hub forgets it after a minute. */
const SAY_EVERY_MS = 10_000;
/** A worker that does not answer for so long is as good as none, until it does. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * Follows all changes by the one stream that the tabs of a browser share. It rests when the page is left or put into the
 * browser's cache, and when it was hidden for a minute. A browser without SharedWorker, or whose worker does not answer, gets a
 * stream of this tab's own, with the same rests; a worker that answers late takes its place.
 * @param identity whom the manager takes the page for: nobody gets changes by the stream of somebody else
 */
export function followChanges(identity: string, sink: ChangeSink): () => void {
  const ending = new AbortController();
  const hear = (said: HubSays): void => tell(sink, said);
  let line: Line | undefined;

  // A page that comes out of the browser's cache may have this timer run before it is told so: there is no line yet.
  const sayHereIfSeen = (): void => void (document.visibilityState === "visible" && line?.say("here"));
  const begin = (): void => {
    line = lineToHub(identity, hear, beginAgain);
    line.say("here");
  };
  const end = (): void => {
    line?.close();
    line = undefined;
    sink.resting();
  };
  const beginAgain = (): void => {
    end();
    begin();
  };
  const { signal } = ending;
  document.addEventListener("visibilitychange", sayHereIfSeen, { signal });
  window.addEventListener("pagehide", end, { signal });
  window.addEventListener("pageshow", ({ persisted }) => void (persisted && begin()), { signal });
  const clock = setInterval(sayHereIfSeen, SAY_EVERY_MS);
  begin();
  return () => {
    ending.abort();
    clearInterval(clock);
    line?.close();
  };
}

interface Line {
  say(said: TabSays): void;
  /** Nothing is heard from then on. */
  close(): void;
}

let hasNoWorker = typeof SharedWorker !== "function";

/** @param answeredLate the line is to be closed, and a new one made: it leads to the worker then */
function lineToHub(identity: string, hear: (said: HubSays) => void, answeredLate: () => void): Line {
  if (hasNoWorker) return ownLine(hear);
  try {
    return sharedLine(identity, hear, answeredLate);
  } catch {
    hasNoWorker = true; // this browser has it, and does not allow it here
    return ownLine(hear);
  }
}

function ownLine(hear: (said: HubSays) => void): Line {
  const say = new ChangeHub().add(hear);
  return { say, close: () => say("gone") };
}

function sharedLine(identity: string, hear: (said: HubSays) => void, answeredLate: () => void): Line {
  const options = { name: `unacked ${identity}` };
  const worker = new SharedWorker(new URL("./change-worker.ts", import.meta.url), /* @vite-ignore */ options);
  const { port } = worker;
  const ending = new AbortController();
  let answerIsDue: ReturnType<typeof setTimeout> | undefined;
  let own: Line | undefined;
  const noAnswerIsDue = (): void => {
    clearTimeout(answerIsDue);
    answerIsDue = undefined;
  };
  const fallBack = (): void => {
    hasNoWorker = true;
    noAnswerIsDue();
    if (own !== undefined) return;
    hear({ kind: "resting" });
    own = ownLine(hear);
    own.say("here");
  };
  const { signal } = ending;
  worker.addEventListener("error", fallBack, { signal });
  port.addEventListener(
    "message",
    ({ data }: MessageEvent<HubSays>) => {
      noAnswerIsDue();
      if (own === undefined) return hear(data);
      hasNoWorker = false;
      answeredLate();
    },
    { signal },
  );
  port.start();
  return {
    say(said) {
      if (own !== undefined) return own.say(said);
      port.postMessage(said);
      answerIsDue ??= setTimeout(fallBack, ANSWER_WITHIN_MS);
    },
    close() {
      noAnswerIsDue();
      ending.abort();
      port.postMessage("gone" satisfies TabSays);
      port.close();
      own?.close();
    },
  };
}

function tell(sink: ChangeSink, said: HubSays): void {
  switch (said.kind) {
    case "heard":
      return;
    case "events":
      for (const event of said.events) tellEvent(sink, event);
      return;
    case "ready":
      return sink.ready(said.missed);
    case "broken":
      return sink.broken(said.lastHeardMs);
    case "unauthorized":
      return tellUnauthorized();
    case "resting":
      return sink.resting();
    default:
      said satisfies never;
  }
}

function tellEvent(sink: ChangeSink, { event, data }: EventBlock): void {
  if (event === "observer") sink.observer(JSON.parse(data));
  if (event === "service") sink.service(JSON.parse(data));
}
