import { randomUUID } from "node:crypto";
import type { LogFields, LogLevel, ObserverIdentity } from "./observer-context.ts";
import type { ObserverDefinition } from "./observer-definition.ts";
import { ObserverStopped, type StopCode } from "./observer-stopped.ts";
import { paramsIssuesText, parseParams } from "./params.ts";
import { everythingPermitted, type Permissions } from "./permissions.ts";
import { isNotOffered, offeredUnder, type RestrictedObserver } from "./restricted-observer.ts";
import { createRunContext, type RunContext } from "./run-context.ts";
import { type RunOutcome, settleRun } from "./run-outcome.ts";
import { SdkError } from "./sdk-error.ts";

export type HarnessOptions = {
  /** As a client would send them; checked by the type's schema as on a service. Default `{}`. */
  readonly params?: unknown;
  /** Parts of the identity that the handler should see. Default: a random id, the type as name, no labels. */
  readonly observer?: Partial<Omit<ObserverIdentity, "type">>;
  /** Default: a random UUID. */
  readonly runId?: string;
  /** What a restricted type is made for. Default: everything is permitted. */
  readonly permissions?: Permissions;
};

export type LoggedLine = { readonly level: LogLevel; readonly message: string; readonly fields?: LogFields };

/** That of a service by default. Every event is confirmed at once here, so that nothing ever waits for so long. */
const STOP_TIMEOUT_MS = 25_000;

/** An observer running in memory. */
export type HarnessRun = {
  /** What was emitted so far, as a subscriber would read it: after JSON. It grows while the run goes on. */
  readonly events: readonly unknown[];
  /** What was logged so far. It grows while the run goes on. */
  readonly logs: readonly LoggedLine[];
  /**
   * Aborts the run's signal, by default as `stopped`, and resolves when the handler has settled. Emits after `lease-lost`,
   * which may also follow another reason, reject as on a service.
   */
  stop(reason?: StopCode | ObserverStopped): Promise<RunOutcome>;
  /** How the run ended; never rejects. Params that do not pass are `failed` with the schema's message. */
  readonly finished: Promise<RunOutcome>;
  /**
   * The first event, of those emitted before as well, for which the predicate holds. Rejects with `event-not-seen` after
   * `timeoutMs` (default 5,000) or when the run ends without one.
   */
  waitForEvent<E = unknown>(predicate?: (event: E) => boolean, options?: { readonly timeoutMs?: number }): Promise<E>;
};

/**
 * Runs an observer in memory, with no broker and no service: for tests of a handler. One attempt, no retries. Throws
 * `not-offered` for a type that does not exist under these permissions.
 */
export function runObserver<P>(
  observer: ObserverDefinition<P> | RestrictedObserver,
  options: HarnessOptions = {},
): HarnessRun {
  const definition = definitionOf(observer, options.permissions ?? everythingPermitted);
  const events: unknown[] = [];
  const logs: LoggedLine[] = [];
  let running: RunContext<unknown> | undefined;
  const onEvent = new Set<() => void>();

  const start = async (): Promise<RunOutcome> => {
    const parsed = parseParams(definition, options.params ?? {});
    if (!parsed.ok) {
      return { outcome: "failed", error: new SdkError("invalid-params", paramsIssuesText(parsed.issues)) };
    }
    const created = createRunContext({
      params: parsed.params,
      observer: { id: randomUUID(), name: definition.type, labels: {}, ...options.observer, type: definition.type },
      runId: options.runId ?? randomUUID(),
      stopTimeoutMs: STOP_TIMEOUT_MS,
      writeLog: (level, message, fields) => void logs.push({ level, message, ...(fields && { fields }) }),
      publish: (eventJson) => {
        events.push(JSON.parse(eventJson));
        for (const look of onEvent) look();
        return Promise.resolve();
      },
    });
    running = created;
    const outcome = await settleRun(definition, created.context);
    created.end();
    return outcome;
  };
  const finished = start();

  return {
    events,
    logs,
    finished,
    stop(reason = "stopped") {
      running?.stop(typeof reason === "string" ? new ObserverStopped(reason) : reason);
      return finished;
    },
    waitForEvent: <E>(predicate: (event: E) => boolean = () => true, { timeoutMs = 5_000 } = {}) =>
      new Promise<E>((resolve, reject) => {
        let next = 0;
        const settle = (act: () => void) => {
          clearTimeout(timer);
          onEvent.delete(look);
          act();
        };
        const giveUp = (why: string) => settle(() => reject(new SdkError("event-not-seen", why)));
        const look = () => {
          while (next < events.length) {
            const event = events[next++] as E;
            if (predicate(event)) return settle(() => resolve(event));
          }
        };
        const timer = setTimeout(
          () => giveUp(`no such event within ${timeoutMs} ms; ${events.length} others came`),
          timeoutMs,
        );
        onEvent.add(look);
        look();
        void finished.then((end) => {
          const why = end.outcome !== "completed" && end.error ? ` (${end.error.message})` : "";
          giveUp(`the run ended as ${end.outcome}${why} without such an event; ${events.length} others came`);
        });
      }),
  };
}

function definitionOf(observer: unknown, permissions: Permissions): ObserverDefinition {
  const offered = offeredUnder(observer, permissions);
  if (offered === undefined) throw new SdkError("invalid-definition", "runObserver takes what defineObserver gave");
  if (isNotOffered(offered)) throw new SdkError("not-offered", `the type is not offered: ${offered.notOffered}`);
  return offered;
}
