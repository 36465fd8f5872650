/** The property of a task that holds the signals of its call. As it is not enumerable, a copy lacks it. */
const AMONG = Symbol("the signals of its call");

/** Kept as in the SDK's run context. */
const OwnAbortController = AbortController;

type Lazy = { readonly taskId: string; readonly [AMONG]: MemberSignals };

/**
 * Shared by all tasks of a process: to V8 objects with the same accessors are alike, and it makes a dictionary of each of the others.
 */
const SIGNAL: PropertyDescriptor & ThisType<Lazy> = {
  enumerable: true,
  configurable: true,
  get() {
    return this[AMONG].of(this.taskId);
  },
  // A handler in JavaScript may replace it, as it may any other property.
  set(signal: unknown) {
    Object.defineProperty(this, "signal", { value: signal, enumerable: true, configurable: true, writable: true });
  },
};

/**
 * The signals of the tasks of one call, by task: each aborts with that of the whole call, too. One is created when it is first read, as
 * most never are, and it takes 2 µs on Node.js 20; to follow the whole by `AbortSignal.any` would take 12.
 */
export class MemberSignals {
  readonly #controllers = new Map<string, AbortController>();
  #whole: AbortSignal | undefined;

  /** Follows the signal of the whole call. */
  follow(whole: AbortSignal): void {
    this.#whole = whole;
    const abortAll = (): void => {
      for (const one of this.#controllers.values()) one.abort(whole.reason);
    };
    if (whole.aborted) abortAll();
    else whole.addEventListener("abort", abortAll, { once: true });
  }

  of(taskId: string): AbortSignal {
    const known = this.#controllers.get(taskId);
    if (known !== undefined) return known.signal;
    const controller = new OwnAbortController();
    this.#controllers.set(taskId, controller);
    if (this.#whole?.aborted === true) controller.abort(this.#whole.reason);
    return controller.signal;
  }

  /** Ends this task; the others go on. */
  abort(taskId: string, reason: unknown): void {
    this.of(taskId); // created here for a later reader
    this.#controllers.get(taskId)?.abort(reason);
  }

  /** The `task` with its signal, as an own property that copies like any other. */
  addTo<Task extends { readonly taskId: string }>(task: Task): Task & { readonly signal: AbortSignal } {
    Object.defineProperty(task, AMONG, { value: this });
    return Object.defineProperty(task, "signal", SIGNAL) as Task & { readonly signal: AbortSignal };
  }
}
