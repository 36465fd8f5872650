import { awaitedWorker, isOver, type ObserverStatus, type ObserverView, type ServiceView } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import { LostConnection } from "./lost-connection.ts";

interface WaitOptions {
  wanted: ObserverStatus;
  timeoutMs: number;
  /** Called once for each observer, as soon as it has the status. */
  onReached(observer: ObserverView): void;
}

/** A short bound, as the time to wait is up already. */
const LAST_LOOK_MS = 2_000;

/**
 * Waits until every one of these observers has had the status: follows the changes, and reads each once. Fails at once when one can no
 * longer get there, and when the time is up; a restart of the manager ends no wait. Guarantees: no status between the reading and the
 * following is missed, as the stream opens first; and before it fails, each observer is read once more, in case a proxy holds the stream
 * back.
 */
export async function waitForStatus({ api, io }: Session, observers: ObserverView[], options: WaitOptions): Promise<void> {
  const waiting = new Map(observers.map((one) => [one.id, one]));
  const look = (observer: ObserverView): void => {
    if (!waiting.has(observer.id)) return;
    if (observer.status === options.wanted) {
      waiting.delete(observer.id);
      options.onReached(observer);
    } else if (isOver(observer.status)) throw cannotCome(observer, options.wanted);
    else waiting.set(observer.id, observer);
  };
  for (const observer of observers) look(observer);
  if (waiting.size === 0) return;
  const ending = new AbortController();
  const lost = new LostConnection(io);
  const timer = setTimeout(() => ending.abort(), options.timeoutMs);
  const lookUp = async (ref: string): Promise<void> => {
    const read = (signal: AbortSignal) => api.call("getObserver", { path: { ref } }, { signal });
    const observer = await lost.untilAnswered(read, ending.signal);
    if (observer !== undefined) look(observer);
  };
  /** Best effort: looks only at what answers within a short time. */
  const lookOnceMore = async (): Promise<ServiceView[] | undefined> => {
    const signal = AbortSignal.timeout(LAST_LOOK_MS);
    const services = api.call("listServices", {}, { signal }).catch(() => undefined);
    await inParallel([...waiting.keys()], async (ref) => {
      const observer = await api.call("getObserver", { path: { ref } }, { signal }).catch(() => undefined);
      if (observer !== undefined) look(observer);
    });
    return (await services)?.items;
  };
  try {
    for await (const news of lost.follow((signal) => api.changes(signal), ending.signal)) {
      if (news.name === "observer") look(news.data);
      if (news.name === "ready" || news.name === "resync") {
        await inParallel([...waiting.keys()], lookUp);
        lost.over();
      }
      if (waiting.size === 0) return;
    }
    const services = await lookOnceMore();
    if (waiting.size > 0) throw timedOut([...waiting.values()], services, options);
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

function cannotCome({ name, status, lastError }: ObserverView, wanted: ObserverStatus): CliFailure {
  const why = lastError === null ? "" : ` (${lastError.name}: ${lastError.message})`;
  return new CliFailure("failed", `observer ${name} is ${status}${why}, and will not become ${wanted}`, {
    code: "cannot-come",
    remedy: status === "Deleted" ? "" : `See: unacked describe ${name}`,
  });
}

function timedOut(
  waiting: ObserverView[],
  services: ServiceView[] | undefined,
  { wanted, timeoutMs }: WaitOptions,
): CliFailure {
  const [first, ...others] = waiting.map((one) => standingOf(one, services));
  const rest = others.length === 0 ? "" : ` and ${others.length} more are not there either`;
  return new CliFailure("timedOut", `Not ${wanted} within ${timeoutMs} ms: ${first}${rest}`);
}

function standingOf(observer: ObserverView, services: ServiceView[] | undefined): string {
  const worker = services === undefined ? undefined : awaitedWorker(observer, services);
  return `${observer.name} is ${observer.status}${worker === undefined ? "" : `, and waits for ${worker}`}`;
}
