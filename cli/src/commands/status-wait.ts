import { awaitedWorker, isOver, type ObserverStatus, type ObserverView, type ServiceView } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import { LostConnection } from "./lost-connection.ts";

/** One that is waited for. */
export type Waited = Pick<ObserverView, "id" | "name">;

interface WaitOptions {
  wanted: ObserverStatus;
  timeoutMs: number;
  /** Called once for each, as soon as it is there. */
  onReached(observer: ObserverView): void;
}

/** The time to wait is up already. */
const WHY_WITHIN_MS = 2_000;

/**
 * Waits until every one of these observers has had the status: reads each once, then follows the changes. Fails at once
 * when one cannot come there any more, and when the time is up; a manager that restarts meanwhile ends no wait. Guarantees: a status that
 * comes between the reading and the following is not missed, as the stream is open before anything is read.
 */
export async function waitForStatus({ api, io }: Session, observers: Waited[], options: WaitOptions): Promise<void> {
  if (observers.length === 0) return;
  const waiting = new Map<string, Waited | ObserverView>(observers.map((one) => [one.id, one]));
  const ending = new AbortController();
  const lost = new LostConnection(io);
  const timer = setTimeout(() => ending.abort(), options.timeoutMs);
  const look = (observer: ObserverView): void => {
    if (!waiting.has(observer.id)) return;
    if (observer.status === options.wanted) {
      waiting.delete(observer.id);
      options.onReached(observer);
    } else if (isOver(observer.status)) throw cannotCome(observer, options.wanted);
    else waiting.set(observer.id, observer);
  };
  const lookUp = async (ref: string): Promise<void> => {
    const read = (signal: AbortSignal) => api.call("getObserver", { path: { ref } }, { signal });
    const observer = await lost.untilAnswered(read, ending.signal);
    if (observer !== undefined) look(observer);
  };
  /** Best effort, for why: undefined where nothing is waited for that was looked at, and where they cannot be had at once. */
  const services = async (): Promise<ServiceView[] | undefined> => {
    if (![...waiting.values()].some((one) => "status" in one)) return undefined;
    const asked = api.call("listServices", {}, { signal: AbortSignal.timeout(WHY_WITHIN_MS) });
    return (await asked.catch(() => undefined))?.items;
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
    throw timedOut([...waiting.values()], await services(), options);
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

/** Of those that were not looked at yet, only the name is known. */
function timedOut(
  waiting: (Waited | ObserverView)[],
  services: ServiceView[] | undefined,
  { wanted, timeoutMs }: WaitOptions,
): CliFailure {
  const [first, ...others] = waiting.map((one) => ("status" in one ? standingOf(one, services) : one.name));
  const rest = others.length === 0 ? "" : ` and ${others.length} more are not there either`;
  return new CliFailure("timedOut", `Not ${wanted} within ${timeoutMs} ms: ${first}${rest}`);
}

function standingOf(observer: ObserverView, services: ServiceView[] | undefined): string {
  const worker = services === undefined ? undefined : awaitedWorker(observer, services);
  return `${observer.name} is ${observer.status}${worker === undefined ? "" : `, and waits for ${worker}`}`;
}
