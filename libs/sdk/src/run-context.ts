import type { z } from "zod";
import { aTurnLater } from "./a-turn-later.ts";
import { Confirms } from "./confirms.ts";
import type { LogFields, LogLevel, ObserverContext, ObserverIdentity, ObserverLog } from "./observer-context.ts";
import { isObserverStopped, type ObserverStopped } from "./observer-stopped.ts";
import { readText } from "./read-text.ts";
import { allConfirmed, Saving } from "./saving.ts";
import { SdkError } from "./sdk-error.ts";
import { SharedSaves } from "./shared-saves.ts";

/** What a host (a service, the harness) brings to a run. Its methods are called as such, so that it may be an object with a life. */
export type RunContextParts<P> = {
  /** After parsing. */
  readonly params: P;
  /** Its params may become others: see {@link RunContext}`.update`. Default: they do not. */
  readonly isUpdatable?: boolean;
  /** Who runs. */
  readonly observer: ObserverIdentity;
  /** UUID of the run. */
  readonly runId: string;
  /** The fencing token of a run that was admitted. */
  readonly fencingToken?: number | undefined;
  /** Of a type that saves where its runs have got to. */
  readonly saves?: RunSaves | undefined;
  /** How long a handler that was told to stop may take to settle, milliseconds. An emit or a save may wait for its confirm for half of what is left of that. */
  readonly stopTimeoutMs: number;
  /** Takes a line of the run's log. */
  writeLog(level: LogLevel, message: string, fields?: LogFields): void;
  /** Publishes an event, already written as JSON; resolves when it is confirmed. */
  publish(eventJson: string): Promise<void>;
  /** It emits, or says that it is alive. */
  beat?(): void;
  /** It has ended, and logs, emits or saves all the same: something in it was not awaited, or not stopped. Told once. */
  late?(): void;
};

/** What a host brings for a type with a `checkpoint`. */
export type RunSaves = {
  /** Checks what is saved. */
  readonly schema: z.ZodType;
  /** Takes a checkpoint, as JSON; resolves when the broker has confirmed it and the lease was held still. */
  save(json: string): Promise<void>;
  /** Between two of one run; milliseconds. */
  readonly everyMs: number;
  /** What the run starts with, parsed; undefined: nothing. */
  readonly checkpoint: unknown;
};

/** A context, and what its host tells it. */
export type RunContext<P> = {
  /** What the handler gets. */
  readonly context: ObserverContext<P>;
  /**
   * Aborts the signal, the first time. `lease-lost`, also as a later call, rejects with the reason every emit and save that waits
   * and every one to come; any other reason gives each of them half of what is left of `stopTimeoutMs`.
   */
  stop(reason: ObserverStopped): void;
  /** What `params` are from now on, of one that is updatable. */
  update(params: P): void;
  /** Something that it emitted waits for its confirm. */
  readonly waits: boolean;
  /** The handler has settled. Where it saves, resolves when what it has saved last is on its way. */
  end(): Promise<void> | undefined;
};

/** Builds what a handler gets, for hosts; service and harness share it so that `emit` keeps its promises in both. */
export function createRunContext<P>(parts: RunContextParts<P>): RunContext<P> {
  return new PartsContext(parts);
}

/** Of this process when it began: handlers beside each other share their globals, and `fetch` takes no signal of a browser's that one has put in its place. */
const OwnAbortController = AbortController;

/** There is one for each of many thousand runs, hence methods rather than functions of its own. */
class PartsContext<P> implements RunContext<P> {
  readonly context: ObserverContext<P>;
  readonly #parts: RunContextParts<P>;
  readonly #controller = new OwnAbortController();
  readonly #confirms = new Confirms();
  #emitting = 0;
  #params: P;
  /** Emits that no save goes behind yet. */
  readonly #unsaved = new Set<Promise<void>>();
  #leaseLost: ObserverStopped | undefined;
  #ended = false;
  #isLate = false;
  #warnedOfStop = false;
  readonly #saving: Saving | undefined;

  constructor(parts: RunContextParts<P>) {
    this.#parts = parts;
    const { params, observer, runId, fencingToken, saves } = parts;
    const { signal } = this.#controller;
    const log: ObserverLog = Object.freeze({
      debug: (message: string, fields?: LogFields) => this.#log("debug", message, fields),
      info: (message: string, fields?: LogFields) => this.#log("info", message, fields),
      warn: (message: string, fields?: LogFields) => this.#log("warn", message, fields),
      error: (message: string, fields?: LogFields) => this.#log("error", message, fields),
    });
    const emit = (event: unknown) => this.#emit(event);
    const alive = () => parts.beat?.();
    const context = { params, signal, log, emit, alive, observer, runId };
    this.#saving = saves && new Saving({ ...saves, emitted: () => this.#emitted() });
    this.#params = params;
    if (fencingToken === undefined) this.context = Object.freeze(context);
    else {
      const saveCheckpoint = this.#saving && this.#saverOf(this.#saving);
      const { checkpoint } = saves ?? {};
      const admitted = { ...context, fencingToken, ...(saves && { checkpoint, saveCheckpoint }) };
      if (parts.isUpdatable) Object.defineProperty(admitted, "params", { enumerable: true, get: () => this.#params });
      this.context = Object.freeze(admitted);
    }
  }

  update(params: P): void {
    this.#params = params;
  }

  stop(reason: ObserverStopped): void {
    const isFirst = !this.context.signal.aborted;
    if (reason.code === "lease-lost") {
      this.#leaseLost ??= reason;
      this.#confirms.reject(reason);
      this.#saving?.stop(reason);
    } else if (isFirst) {
      this.#confirms.limit(reason, this.#parts.stopTimeoutMs);
    }
    this.#saving?.hurry();
    this.#controller.abort(reason);
  }

  get waits(): boolean {
    return this.#emitting > 0;
  }

  end(): Promise<void> | undefined {
    this.#ended = true;
    return this.#saving?.flush(new SdkError("save-after-end", "saveCheckpoint was called after the run had ended"));
  }

  #saverOf(saving: Saving): (value: unknown) => Promise<void> {
    const { signal } = this.#controller;
    const warn = (error: unknown): void => this.#warn(error, "a checkpoint was not saved");
    const saves = new SharedSaves({ saving, confirms: this.#confirms, signal, warn });
    return (value) => {
      this.#lookWhetherLate();
      return saves.save(value);
    };
  }

  #log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    this.#lookWhetherLate();
    this.#parts.writeLog(level, message, fields);
  }

  #lookWhetherLate(): void {
    if (!this.#ended || this.#isLate) return;
    this.#isLate = true;
    this.#parts.late?.();
  }

  /** All that waits for its confirm now, but for what this was said of before: a save for each of many emits must not look at all of them. */
  #emitted(): Promise<void> | undefined {
    if (this.#unsaved.size === 0) return undefined;
    const fresh = [...this.#unsaved];
    this.#unsaved.clear();
    return allConfirmed(fresh);
  }

  #emit(event: unknown): Promise<void> {
    this.#lookWhetherLate();
    this.#parts.beat?.();
    const published = this.#publish(event);
    // This handler makes an emit that nobody awaits safe; one who awaits it still gets the rejection.
    published.catch(() => undefined);
    return published;
  }

  async #publish(event: unknown): Promise<void> {
    let sent: Promise<void> | undefined;
    try {
      sent = this.#send(event);
      await sent;
    } catch (error) {
      this.#warn(error); // at once: the handler may return in this turn, and lines of one that has settled are dropped
      await aTurnLater(error);
    } finally {
      if (sent !== undefined) this.#emitting -= 1;
      if (sent !== undefined) this.#unsaved.delete(sent);
    }
  }

  #send(event: unknown): Promise<void> {
    if (this.#ended) {
      throw new SdkError("emit-after-end", "emit was called after the run had ended; the event is not sent");
    }
    if (this.#leaseLost !== undefined) throw this.#leaseLost;
    const sent = this.#confirms.inTime(this.#parts.publish(toJson(event)));
    this.#emitting += 1;
    if (this.#saving !== undefined) this.#unsaved.add(sent);
    return sent;
  }

  /** One line for all that a stop, or the end, has refused: a run that leaves a timer behind would otherwise fill the log. */
  #warn(error: unknown, what = "an emitted event was not published"): void {
    const isLate = error instanceof SdkError && (error.code === "emit-after-end" || error.code === "save-after-end");
    const afterStop = isObserverStopped(error) || isLate;
    if (afterStop && this.#warnedOfStop) return;
    this.#warnedOfStop ||= afterStop;
    this.#parts.writeLog("warn", what, { error: readText(() => error) });
  }
}

function toJson(event: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(event);
  } catch (cause) {
    throw new SdkError("event-not-json", `the event cannot be written as JSON: ${readText(() => cause)}`, { cause });
  }
  if (json === undefined) {
    throw new SdkError("event-not-json", `the event cannot be written as JSON: it is of type ${typeof event}`);
  }
  return json;
}
