import type { RunId, ServiceEvent } from "@unacked/contracts";

const MAX_BATCH_EVENTS = 1_000;
/** Well below the 16 MiB that RabbitMQ 4 takes by default. */
const MAX_BATCH_BYTES = 1_048_576;

export interface Outgoing {
  readonly event: ServiceEvent;
  readonly generation: number;
  readonly onConfirmed?: (() => void) | undefined;
}

export interface Batch {
  readonly seq: number;
  readonly generation: number;
  readonly events: readonly ServiceEvent[];
  /** The events as they are sent: a JSON array. */
  readonly eventsJson: string;
}

type Waiting = Outgoing & { key: string | undefined; dropped: boolean };

/**
 * Events on their way to the state queue, in order. One batch is in flight at a time and is given out again, unchanged,
 * until it is confirmed, so that `seq` and order cannot part.
 *
 * What waits is coalesced per run (first start, latest retry, latest start after it, latest hold, end), so that it is
 * bounded by the number of runs, however long the broker is away. A crash loses what waits: the manager hears of it by
 * the death of the service.
 */
export class Outbox {
  #waiting: Waiting[] = [];
  readonly #byKey = new Map<string, Waiting>();
  #inFlight: { batch: Batch; entries: Waiting[] } | undefined;
  #seq = 0;
  #size = 0;

  /** How many events wait or are in flight. */
  get size(): number {
    return this.#size;
  }

  add(outgoing: Outgoing): void {
    const { key, replaced } = coalescing(outgoing.event, (candidate) => this.#byKey.has(candidate));
    for (const each of replaced) this.#drop(each);
    const entry: Waiting = { ...outgoing, key, dropped: false };
    if (key !== undefined) this.#byKey.set(key, entry);
    this.#waiting.push(entry);
    this.#size += 1;
    this.#sweep();
  }

  /** The batch to send now: the one in flight if there is one, else the next; `undefined` when nothing waits. */
  next(): Batch | undefined {
    if (this.#inFlight !== undefined) return this.#inFlight.batch;
    const { entries, texts } = this.#take();
    const [first] = entries;
    if (first === undefined) return undefined;
    this.#seq += 1;
    const events = entries.map(({ event }) => event);
    const batch = { seq: this.#seq, generation: first.generation, events, eventsJson: `[${texts.join(",")}]` };
    this.#inFlight = { batch, entries };
    return batch;
  }

  /** The batch in flight is safe with the broker. Calls its events' `onConfirmed`, in order. */
  confirmed(): void {
    const entries = this.#inFlight?.entries ?? [];
    this.#inFlight = undefined;
    this.#size -= entries.length;
    for (const { onConfirmed } of entries) onConfirmed?.();
  }

  #drop(key: string): void {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return;
    entry.dropped = true;
    this.#byKey.delete(key);
    this.#size -= 1;
  }

  /** Dropped entries keep their place until there are more of them than of the others. */
  #sweep(): void {
    const tooMany = this.#waiting.length > 2 * this.#size + MAX_BATCH_EVENTS;
    if (tooMany) this.#waiting = this.#waiting.filter(({ dropped }) => !dropped);
  }

  /** One batch is of one generation, so that a certificate of another's death cannot be taken for this one's. */
  #take(): { entries: Waiting[]; texts: string[] } {
    const entries: Waiting[] = [];
    const texts: string[] = [];
    let bytes = 0;
    let next = 0;
    for (; next < this.#waiting.length && entries.length < MAX_BATCH_EVENTS; next += 1) {
      const entry = this.#waiting[next] as Waiting;
      if (entry.dropped) continue;
      const text = JSON.stringify(entry.event);
      bytes += text.length;
      const first = entries[0];
      if (first !== undefined && (bytes > MAX_BATCH_BYTES || entry.generation !== first.generation)) break;
      entries.push(entry);
      texts.push(text);
      if (entry.key !== undefined) this.#byKey.delete(entry.key);
    }
    this.#waiting = this.#waiting.slice(next);
    return { entries, texts };
  }
}

/** Under which key an event waits, and which waiting ones it makes superfluous. */
function coalescing(event: ServiceEvent, waits: (key: string) => boolean): { key: string | undefined; replaced: string[] } {
  switch (event.kind) {
    case "RunStarted": {
      // The first start tells who runs; only starts after it can replace each other.
      const key = waits(runKey(event.runId, "start")) ? runKey(event.runId, "again") : runKey(event.runId, "start");
      return { key, replaced: [runKey(event.runId, "again")] };
    }
    case "RunRetrying":
      return { key: runKey(event.runId, "retry"), replaced: [runKey(event.runId, "retry"), runKey(event.runId, "again")] };
    case "RunHeld":
      return { key: runKey(event.runId, "held"), replaced: [runKey(event.runId, "held")] };
    case "RunStopped":
    case "RunFailed":
    case "RunCompleted":
    case "RunReleased":
      return { key: undefined, replaced: [runKey(event.runId, "again"), runKey(event.runId, "held")] };
    case "ServiceAlive":
    case "ServiceBorn":
      return { key: event.kind, replaced: [event.kind] };
    case "ServiceDied":
    case "StartRefused":
    case "DuplicateDropped":
    case "Inventory":
      return { key: undefined, replaced: [] };
    default:
      return event satisfies never;
  }
}

const runKey = (runId: RunId, what: string): string => `${runId}:${what}`;
