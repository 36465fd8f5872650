import { setTimeout as sleep } from "node:timers/promises";
import { EXCHANGES, newMessageId, TASK_STATE_KEY, type TaskEvent } from "@unacked/contracts";
import type { ServiceIdentity } from "../identity.ts";
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from "../outbox/batch-bounds.ts";
import { type PublishTools, publishUntilConfirmed } from "../outbox/publish-until-confirmed.ts";
import { ToldLoad } from "./told-load.ts";

/**
 * Under load (told-load.ts) events wait this long for others: that makes fewer messages and transactions, and more starts whose end says it
 * all.
 */
const HEAVY_PAUSE_MS = 10;
/** Under load a patient start waits this long for its end, which says it, too. */
const PATIENCE_MS = 50;

interface Waiting {
  event: TaskEvent;
  /** Written only when it is sent, as most starts never are. */
  json: string;
  readonly generation: number;
  /** Whether its end came before it was sent, which says all of it. */
  isDropped: boolean;
  /** Under load it is not sent before this time, in ms of `performance.now()`. */
  fromMs: number;
  onConfirmed: (() => void)[] | undefined;
}

/**
 * Receives events of tasks, in the order they happened. Guarantees: those of one send reach the tasks' state queue in that order (a patient
 * start may come later than other sends' events), one numbered batch at a time, each again until it is confirmed; `onConfirmed` is called
 * only then. What waits is bounded by the task workers. A crash loses what was not confirmed: none of those messages has been acked.
 */
export class TaskSender {
  readonly #identity: ServiceIdentity;
  readonly #tools: PublishTools;
  readonly #isStocked: () => boolean;
  readonly #closing = new AbortController();
  readonly #load = new ToldLoad();
  /** The starts that wait, by run. */
  readonly #starts = new Map<string, Waiting>();
  /** The patient starts, by send. */
  readonly #patient = new Map<string, Waiting>();
  /** The waiting TaskWorkers event, if there is one. */
  #workers: Waiting | undefined;
  #waiting: Waiting[] = [];
  #inFlight: Waiting[] = [];
  #generation = 0;
  #seq = 0;
  #wake: (() => void) | undefined;
  #onEmpty: (() => void)[] = [];

  /** @param isStocked enough tasks wait here for a worker: none stands idle for what is told a little later */
  constructor(identity: ServiceIdentity, tools: PublishTools, isStocked: () => boolean) {
    this.#identity = identity;
    this.#tools = tools;
    this.#isStocked = isStocked;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Events from now on belong to this generation. */
  enterGeneration(generation: number): void {
    this.#generation = generation;
  }

  get waiting(): number {
    return this.#waiting.length + this.#inFlight.length;
  }

  /** @param isPatient of a start: for what it guards against it is early enough a little later */
  tell(event: TaskEvent, onConfirmed?: () => void, isPatient = false): void {
    if (event.kind === "TaskWorkers" && this.#tellInPlace(event, onConfirmed)) return;
    const waiting: Waiting = {
      event,
      json: "",
      generation: this.#generation,
      isDropped: false,
      fromMs: isPatient ? performance.now() + PATIENCE_MS : 0,
      onConfirmed: onConfirmed && [onConfirmed],
    };
    if (event.kind === "TaskEnded" || event.kind === "TaskReleased") this.#dropStart(event.runId);
    if ("sendId" in event) this.#hasten(event.sendId);
    if (event.kind !== "TaskStarted") this.#load.note();
    else {
      this.#starts.set(event.runId, waiting);
      if (isPatient) this.#patient.set(event.sendId, waiting);
    }
    if (event.kind === "TaskWorkers") this.#workers = waiting;
    this.#waiting.push(waiting);
    this.#wake?.();
  }

  /** It is sent every few seconds, for as long as an alarm lasts, so it replaces the one before it if that still waits. */
  #tellInPlace(event: TaskEvent, onConfirmed: (() => void) | undefined): boolean {
    const before = this.#workers;
    if (before?.generation !== this.#generation) return false;
    before.event = event;
    before.json = ""; // it may have been written for a batch that it was not taken into
    if (onConfirmed !== undefined) before.onConfirmed = [...(before.onConfirmed ?? []), onConfirmed];
    return true;
  }

  /** Sends until `close`, and then resolves. */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      if (this.#waiting.length === 0) await this.#nextEvent();
      const isHeavy = this.#load.isHeavy(false);
      const mayWait = isHeavy || this.#load.isHeavy(this.#isStocked());
      if (mayWait) await sleep(HEAVY_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // A running task soon shows as Running, as far as the database can bear that: otherwise whoever cancels it frees its
      // key while it runs.
      this.#inFlight = this.#take(isHeavy ? performance.now() : Number.POSITIVE_INFINITY);
      if (this.#inFlight.length > 0) await this.#deliver(this.#inFlight, signal);
    }
  }

  /** Resolves when every event so far, and those that come meanwhile, are confirmed. */
  emptied(): Promise<void> {
    if (this.waiting === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  close(): void {
    this.#closing.abort();
    this.#wake?.();
  }

  #dropStart(runId: string): void {
    const start = this.#starts.get(runId);
    if (start === undefined) return;
    start.isDropped = true;
    this.#starts.delete(runId);
  }

  /** Another event of that send comes, and has to be sent after its start. */
  #hasten(sendId: string): void {
    const start = this.#patient.get(sendId);
    if (start === undefined) return;
    start.fromMs = 0;
    this.#patient.delete(sendId);
  }

  /** Takes events of one generation, by which the manager knows where to send an order, that are due at `nowMs`. */
  #take(nowMs: number): Waiting[] {
    const batch: Waiting[] = [];
    const later: Waiting[] = [];
    let bytes = 0;
    let next = 0;
    for (; next < this.#waiting.length && batch.length < MAX_BATCH_EVENTS; next += 1) {
      const one = this.#waiting[next] as Waiting;
      if (one.isDropped) continue;
      if (one.fromMs > nowMs) {
        later.push(one);
        continue;
      }
      one.json ||= JSON.stringify(one.event);
      bytes += Buffer.byteLength(one.json);
      const [first] = batch;
      if (first !== undefined && (bytes > MAX_BATCH_BYTES || one.generation !== first.generation)) break;
      batch.push(one);
      this.#forget(one);
    }
    this.#waiting = [...later, ...this.#waiting.slice(next)];
    return batch;
  }

  /** The event is sent, so it can no longer be dropped, hastened or replaced. */
  #forget(one: Waiting): void {
    if (one === this.#workers) this.#workers = undefined;
    if (one.event.kind !== "TaskStarted") return;
    const { runId, sendId } = one.event;
    if (this.#starts.get(runId) === one) this.#starts.delete(runId);
    if (this.#patient.get(sendId) === one) this.#patient.delete(sendId);
  }

  async #deliver(batch: readonly Waiting[], signal: AbortSignal): Promise<void> {
    this.#seq += 1;
    const generation = batch[0]?.generation ?? this.#generation;
    const { serviceId, serviceName, pool } = this.#identity;
    const header = JSON.stringify({ kind: "TaskEventBatch", serviceId, serviceName, pool, generation, seq: this.#seq });
    const message = {
      exchange: EXCHANGES.events.name,
      routingKey: TASK_STATE_KEY,
      type: "TaskEventBatch",
      messageId: newMessageId(),
      appId: serviceId,
      body: Buffer.from(`${header.slice(0, -1)},"events":[${batch.map(({ json }) => json).join(",")}]}`),
    };
    try {
      await publishUntilConfirmed(message, this.#tools, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#inFlight = [];
    for (const { onConfirmed } of batch) for (const call of onConfirmed ?? []) call();
    if (this.waiting === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        // Waits a turn, so that events of one turn are sent together.
        setImmediate(resolve);
      };
      if (this.#closing.signal.aborted || this.#waiting.length > 0) this.#wake();
    });
  }
}
