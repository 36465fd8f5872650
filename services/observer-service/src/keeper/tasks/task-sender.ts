import { setTimeout as sleep } from "node:timers/promises";
import { EXCHANGES, newMessageId, TASK_STATE_KEY, type TaskEvent } from "@unacked/contracts";
import type { ServiceIdentity } from "../identity.ts";
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from "../outbox/batch-bounds.ts";
import { type PublishTools, publishUntilConfirmed } from "../outbox/publish-until-confirmed.ts";
import { ToldLoad } from "./told-load.ts";

/** Under load (told-load.ts) what is told waits for so long for others: fewer messages and transactions, and more starts whose end says it all. */
const HEAVY_PAUSE_MS = 10;
/** Under load a patient start waits for its end for so long: that says it, too. */
const PATIENCE_MS = 50;

interface Waiting {
  event: TaskEvent;
  /** Written when it is sent: most starts never are. */
  json: string;
  readonly generation: number;
  /** Its end was told before it was sent: that says all of it. */
  isDropped: boolean;
  /** Under load it is not sent before, in ms of `performance.now()`. */
  fromMs: number;
  onConfirmed: (() => void)[] | undefined;
}

/**
 * Comes in: what is to be told of tasks, in the order it happened. Guarantees: what is told of one send reaches the tasks' state queue in
 * that order (beside others a patient start may come later), one numbered batch at a time, each again until it is confirmed; `onConfirmed`
 * is called only then. What waits is bounded by the task workers. A crash loses what was not confirmed: none of those messages has been acked.
 */
export class TaskSender {
  readonly #identity: ServiceIdentity;
  readonly #tools: PublishTools;
  readonly #isStocked: () => boolean;
  readonly #closing = new AbortController();
  readonly #load = new ToldLoad();
  /** Starts that wait, by run. */
  readonly #starts = new Map<string, Waiting>();
  /** Those that are patient, by send. */
  readonly #patient = new Map<string, Waiting>();
  /** What its workers are, where that waits. */
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

  /** What is told from now on belongs to this generation. */
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

  /** It is told every few seconds, for as long as an alarm lasts: in the place of the one before it, should that wait still. */
  #tellInPlace(event: TaskEvent, onConfirmed: (() => void) | undefined): boolean {
    const before = this.#workers;
    if (before?.generation !== this.#generation) return false;
    before.event = event;
    before.json = ""; // it may have been written for a batch that it was not taken into
    if (onConfirmed !== undefined) before.onConfirmed = [...(before.onConfirmed ?? []), onConfirmed];
    return true;
  }

  /** Sends until `close`; resolves then. */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      if (this.#waiting.length === 0) await this.#nextEvent();
      const isHeavy = this.#load.isHeavy(false);
      const mayWait = isHeavy || this.#load.isHeavy(this.#isStocked());
      if (mayWait) await sleep(HEAVY_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // What runs is Running in the books soon, for as long as these can bear it: else who cancels it frees its key beside it.
      this.#inFlight = this.#take(isHeavy ? performance.now() : Number.POSITIVE_INFINITY);
      if (this.#inFlight.length > 0) await this.#deliver(this.#inFlight, signal);
    }
  }

  /** Resolves when everything told so far, and since, is confirmed. */
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

  /** Something else is told of that send, which is to come after its start. */
  #hasten(sendId: string): void {
    const start = this.#patient.get(sendId);
    if (start === undefined) return;
    start.fromMs = 0;
    this.#patient.delete(sendId);
  }

  /** Of one generation, by which the manager knows where to send an order; what is sent from `nowMs` on at the latest. */
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

  /** It is sent: neither dropped, hastened nor replaced any more. */
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
        // A turn later, so that what is told together is sent together.
        setImmediate(resolve);
      };
      if (this.#closing.signal.aborted || this.#waiting.length > 0) this.#wake();
    });
  }
}
