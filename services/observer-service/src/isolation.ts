import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers";

/** Who answers for an error that nobody caught. */
export interface Owner {
  /** Undefined if it is not a run. */
  readonly runId?: string;
  /** The file, for what a file of observers does by itself. */
  readonly file?: string;
  uncaught(error: unknown): void;
}

const owners = new AsyncLocalStorage<Owner>();

/** Whatever `act` starts (timers, sockets, promises) belongs to `owner` from now on. */
export const runAs = <T>(owner: Owner, act: () => T): T => owners.run(owner, act);

/**
 * Runs code of a run's author that looks at something for it: a schema, or what stands in what was thrown. What it blocks is that
 * run's doing; what it throws later (an asynchronous check, which no schema here may have) fails nobody.
 */
export const lookAs = <T>(runId: string, look: () => T): T => runAs({ runId, uncaught: () => undefined }, look);

/** The owner of the code that runs now, as far as that is known. */
export const currentOwner = (): Owner | undefined => owners.getStore();

/** Runs the service's own work that an observer's call sets off: its failures are not the observer's. */
export const runAsService = <T>(act: () => T): T => owners.exit(act);

let isTold = false;

/**
 * Whether other listeners of the process are just hearing of an uncaught error that its owner was told of: an author's, or a
 * library's.
 */
export const areOthersTold = (): boolean => isTold;

/** The events by which Node tells its process of an error that nobody caught. */
const UNCAUGHT: ReadonlySet<unknown> = new Set(["uncaughtExceptionMonitor", "uncaughtException", "unhandledRejection"]);

/** Taken now, before anybody else may take it. */
const captureUncaught = process.setUncaughtExceptionCaptureCallback.bind(process);

/**
 * Takes every uncaught exception and unhandled rejection of the process, before all who listen for it and whether or not anybody does: an author's
 * code may take all listeners away, and one that throws would end the process (programs made by Emscripten bring such a one). One that came out of an
 * observer goes to its owner, the others to `onUnattributed`.
 *
 * Exceptions come by Node's capture callback: `process.emit` may be replaced by a library that ends the process where nobody listens, and never
 * asks us (source-map-support does). Rejections that such a one keeps from us come by that callback, too, as what nobody has handled.
 *
 * Measured on Node 20.20, 22.23 and 24.21: in both the storage still holds the owner for a throw in a
 * timer, nextTick, socket callback, EventEmitter or abort listener, and for a rejection of a promise made in the run.
 * Three exceptions: a throw in `queueMicrotask` has lost its owner on 20 and 22 (hence the wrapper below); a promise made
 * in the run but rejected by foreign code belongs to nobody on 24; a listener on an emitter that runs share is called by
 * the one that emits, and so belongs to it, if to anybody.
 */
export function installIsolation(onUnattributed: (error: unknown) => void): void {
  const tellOthers = (): void => {
    isTold = true;
    setImmediate(() => {
      isTold = false;
    });
  };
  const attribute = (error: unknown): void => {
    const owner = owners.getStore();
    if (owner === undefined) onUnattributed(error);
    else owner.uncaught(error);
  };
  const emit = process.emit as (...args: unknown[]) => boolean;
  const tell = (...args: unknown[]): boolean => {
    const [event, error] = args;
    if (!UNCAUGHT.has(event)) return Reflect.apply(emit, process, args);
    tellOthers();
    if (event !== "uncaughtExceptionMonitor") attribute(error);
    try {
      Reflect.apply(emit, process, args);
    } catch {
      // The owner knows already. A throw of a listener here would end the process of all, with exit code 7.
    }
    return true;
  };
  process.emit = tell as typeof process.emit;
  captureUncaught((error) => void tell("uncaughtException", error, "uncaughtException"));
  // Otherwise node:domain, which asks for this, would not load.
  process.hasUncaughtExceptionCaptureCallback = () => false;
  wrapQueueMicrotask();
}

function wrapQueueMicrotask(): void {
  const original = globalThis.queueMicrotask;
  globalThis.queueMicrotask = (callback) => {
    const owner = owners.getStore();
    // A wrong argument is left to Node, which throws at the caller.
    if (owner === undefined || typeof callback !== "function") return original(callback);
    original(() => {
      try {
        callback();
      } catch (error) {
        owner.uncaught(error);
      }
    });
  };
}
