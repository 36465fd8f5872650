import type { ErrorText } from "@unacked/contracts";
import type { ObserverDefinition, TaskDefinition } from "@unacked/sdk";
import { isTaskDefinition, type ParamsResult, paramsIssuesText, parseParams } from "@unacked/sdk/host";
import { sendableText } from "./error-text.ts";
import { lookAs } from "./isolation.ts";
import type { HandledRun, HandlerHost, Handlers, Reload } from "./keeper/runs/handlers.ts";
import { SlotHistory, type SlotsMemory, type SlotsView } from "./keeper/slots/slot-history.ts";
import { startAttempt } from "./slot/attempt.ts";
import { BatchHandler } from "./slot/batch-handler.ts";
import { checkpointFlaw } from "./slot/checkpoint-flaw.ts";
import type { LoadedObservers } from "./slot/load-observers.ts";
import { stopReason } from "./slot/stop-reason.ts";
import { asHandler, wordOf } from "./slot/task-handler.ts";
import { catalogueOf } from "./slot/type-catalogue.ts";
import type { Attempt, MemberWord, TaskWord } from "./wire/attempt.ts";
import type { Catalogue } from "./wire/messages.ts";
import { SilenceWatch } from "./wire/silence-watch.ts";

/** `SLOTS=0`: handlers run in the process that holds the lease. One that blocks, leaks or exits ends the service, and the next. */
export class LocalHandlers implements Handlers, SlotsView {
  readonly catalogue: Catalogue;
  /** The types of observers and of tasks; their names differ. */
  readonly #types: ReadonlyMap<string, ObserverDefinition | TaskDefinition>;
  readonly #watch = new SilenceWatch();
  readonly #emptyBytes = process.memoryUsage.rss();
  /** The params of the first attempt, checked when its turn came. */
  readonly #checked = new WeakMap<HandledRun, ParamsResult<unknown>>();

  constructor({ types, tasks, described, notOffered, broken }: Omit<LoadedObservers, "code">) {
    this.#types = new Map<string, ObserverDefinition | TaskDefinition>([...types, ...tasks]);
    const { isolation: _isNotKept, ...catalogue } = catalogueOf(described);
    this.catalogue = { ...catalogue, notOffered, broken };
  }

  checkParams(run: HandledRun): ErrorText | undefined {
    if (run.members !== undefined) return undefined; // each task is checked by itself, when it starts
    const parsed = this.#parse(run);
    this.#checked.set(run, parsed);
    const definition = this.#types.get(run.start.type);
    if (parsed.ok)
      return definition && !isTaskDefinition(definition)
        ? lookAs(run.runId, () => checkpointFlaw(definition, run.checkpoint))
        : undefined;
    return { name: "InvalidParams", message: sendableText(paramsIssuesText(parsed.issues), 16_384) };
  }

  noRoomFor(): undefined {
    return undefined;
  }

  noSlotFor(): undefined {
    return undefined;
  }

  start(host: HandlerHost, run: HandledRun): Attempt {
    host.onPlaced?.(run);
    // Parsed again for each later attempt, as a handler may have changed what it was given.
    const parsed = this.#checked.get(run) ?? this.#parse(run);
    this.#checked.delete(run);
    const definition = this.#types.get(run.start.type) as ObserverDefinition | TaskDefinition; // otherwise no run would have been accepted
    const params = parsed.ok ? parsed.params : undefined;
    if (!isTaskDefinition(definition)) return startAttempt(host, run, definition, params, this.#watch);
    if (run.members !== undefined) return startBatch(host, run, definition);
    let kept: TaskWord | undefined;
    const { taskAttempt: attempt = 1, inputs } = run;
    const typeOf = (type: string) => {
      const found = this.#types.get(type);
      return isTaskDefinition(found) ? found : undefined;
    };
    const keep = (word: TaskWord) => void (kept = word);
    const handler = asHandler(definition, { attempt, inputs }, { keep, typeOf });
    const onSettled: HandlerHost["onSettled"] = (of, outcome) => host.onSettled(of, outcome, wordOf(outcome, kept));
    return startAttempt({ ...host, onSettled }, run, handler, params);
  }

  startBehind(): undefined {
    return undefined; // without a pipe in between it would gain nothing
  }

  keepAlone(): void {
    // All runs are in one process anyway.
  }

  forget(): void {
    // Nothing is kept about runs.
  }

  endForCertain(): boolean {
    return false;
  }

  leaseHeldUntil(): void {
    // A frozen keeper freezes its handlers with it.
  }

  holdSilence(isHeld: boolean): void {
    this.#watch.hold(isHeld);
  }

  slots(): [] {
    return [];
  }

  readonly history = new SlotHistory();
  readonly suspects = 0;

  /** Handlers here have no limit of their own. */
  memory(): SlotsMemory {
    const grownBytes = Math.max(0, process.memoryUsage.rss() - this.#emptyBytes);
    return { usedBytes: grownBytes, limitBytes: Number.POSITIVE_INFINITY, grownBytes };
  }

  async reload(): Promise<Reload> {
    return {
      kind: "refused",
      why: "with SLOTS=0 observers run in the service's own process, which cannot take code out again: restart it",
      broken: [],
    };
  }

  outdated(): [] {
    return [];
  }

  collect(): void {
    // The process that holds the lease must not stand still for it.
  }

  async close(): Promise<void> {
    // Handlers end with the process.
  }

  #parse({ start, runId }: HandledRun): ParamsResult<unknown> {
    const definition = this.#types.get(start.type);
    return definition === undefined
      ? { ok: false, issues: [{ pointer: "", message: `there is no type ${start.type} here` }] }
      : lookAs(runId, () => parseParams(definition, start.params));
  }
}

function startBatch(host: HandlerHost, run: HandledRun, definition: TaskDefinition): Attempt {
  const members = new Map<string, MemberWord>();
  const batch = new BatchHandler({
    definition,
    members: run.members ?? [],
    tell: (results) => {
      for (const result of results) members.set(result.taskId, result);
    },
  });
  const onSettled: HandlerHost["onSettled"] = (of, outcome) =>
    host.onSettled(of, outcome, { ...wordOf(outcome, undefined), members });
  const attempt = startAttempt({ ...host, onSettled }, run, batch.definition, null);
  return {
    abort: (cause) => attempt.abort(cause),
    abortMember: (taskId, cause) => attempt.enter(() => batch.abort(taskId, stopReason(cause))),
  };
}
