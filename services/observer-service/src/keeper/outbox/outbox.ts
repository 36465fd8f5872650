import type { RunId, ServiceEvent } from "@unacked/contracts";
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from "./batch-bounds.ts";

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

/** The kinds of waiting events that a later event of the same run (or service) can make superfluous. */
type Place = "requested" | "checkpoint" | "start" | "again" | "retry" | "held" | "updated" | "latest";

type Waiting = Omit<Outgoing, "onConfirmed"> & {
  /** Its own callbacks, behind those of the events that it has replaced. */
  onConfirmed: (() => void)[] | undefined;
  place: Place | undefined;
  dropped: boolean;
};

/**
 * Events on their way to the state queue, in order. One batch is in flight at a time and is given out again, unchanged,
 * until it is confirmed, so that `seq` and order cannot part.
 *
 * What waits is coalesced per run (latest request, first start, latest checkpoint, latest retry, latest start after it, latest hold, end), so that it is
 * bounded by the number of runs, however long the broker is away. One that begins again in place is another run, and leaves its start
 * and its end: without them the books would miss a restart, and why. A crash loses what waits: the manager hears of it by the death
 * of the service.
 */
export class Outbox {
  #waiting: Waiting[] = [];
  /** The key is the run, or the kind of an event about the service itself. */
  readonly #places = new Map<string, Partial<Record<Place, Waiting>>>();
  #inFlight: { batch: Batch; entries: Waiting[] } | undefined;
  #seq = 0;
  #size = 0;

  /** How many events wait or are in flight. */
  get size(): number {
    return this.#size;
  }

  add({ event, generation, onConfirmed }: Outgoing): void {
    const entry: Waiting = {
      event,
      generation,
      onConfirmed: onConfirmed && [onConfirmed],
      place: undefined,
      dropped: false,
    };
    this.#coalesce(entry);
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
    for (const { onConfirmed } of entries) for (const call of onConfirmed ?? []) call();
  }

  #coalesce(entry: Waiting): void {
    const { replaces, place } = COALESCING[entry.event.kind];
    const key = keyOf(entry.event);
    const before = this.#places.get(key);
    if (before !== undefined) for (const each of replaces) this.#drop(before, each, entry);
    if (place === undefined) return this.#forgetIfEmpty(key);
    // The first start says who runs; only starts after it can replace each other.
    entry.place = place === "start" && before?.start !== undefined ? "again" : place;
    if (before === undefined) this.#places.set(key, { [entry.place]: entry });
    else before[entry.place] = entry;
  }

  /** Callbacks of a dropped event wait for the confirm of its successor. */
  #drop(places: Partial<Record<Place, Waiting>>, place: Place, successor: Waiting): void {
    const entry = places[place];
    if (entry === undefined) return;
    entry.dropped = true;
    entry.onConfirmed?.push(...(successor.onConfirmed ?? []));
    successor.onConfirmed = entry.onConfirmed ?? successor.onConfirmed;
    places[place] = undefined;
    this.#size -= 1;
  }

  /** The event is on its way, so nothing can replace it any more. */
  #leave({ event, place }: Waiting): void {
    if (place === undefined) return;
    const key = keyOf(event);
    const places = this.#places.get(key);
    if (places === undefined) return;
    places[place] = undefined;
    this.#forgetIfEmpty(key);
  }

  #forgetIfEmpty(key: string): void {
    const places = this.#places.get(key);
    for (const place in places) if (places[place as Place] !== undefined) return;
    this.#places.delete(key);
  }

  /** Dropped entries stay in the list until there are more of them than of the others. */
  #sweep(): void {
    const tooMany = this.#waiting.length > 2 * this.#size + MAX_BATCH_EVENTS;
    if (tooMany) this.#waiting = this.#waiting.filter(({ dropped }) => !dropped);
  }

  /** A batch holds events of one generation, so that a certificate of another's death cannot be taken for this one's. */
  #take(): { entries: Waiting[]; texts: string[] } {
    const entries: Waiting[] = [];
    const texts: string[] = [];
    let bytes = 0;
    let next = 0;
    for (; next < this.#waiting.length && entries.length < MAX_BATCH_EVENTS; next += 1) {
      const entry = this.#waiting[next] as Waiting;
      if (entry.dropped) continue;
      const text = JSON.stringify(entry.event);
      bytes += Buffer.byteLength(text);
      const first = entries[0];
      if (first !== undefined && (bytes > MAX_BATCH_BYTES || entry.generation !== first.generation)) break;
      entries.push(entry);
      texts.push(text);
      this.#leave(entry);
    }
    this.#waiting = this.#waiting.slice(next);
    return { entries, texts };
  }
}

/** The place in which an event waits, and the waiting ones that it makes superfluous. */
const COALESCING: Record<ServiceEvent["kind"], { place?: Place; replaces: readonly Place[] }> = {
  RunRequested: { place: "requested", replaces: ["requested"] },
  RunStarted: { place: "start", replaces: ["again"] },
  CheckpointSaved: { place: "checkpoint", replaces: ["checkpoint"] },
  RunUpdated: { place: "updated", replaces: ["updated"] },
  RunRetrying: { place: "retry", replaces: ["retry", "again"] },
  RunHeld: { place: "held", replaces: ["held"] },
  RunStopped: { replaces: ["again", "held"] },
  RunFailed: { replaces: ["again", "held"] },
  RunCompleted: { replaces: ["again", "held"] },
  RunReleased: { replaces: ["again", "held"] },
  ServiceAlive: { place: "latest", replaces: ["latest"] },
  ServiceBorn: { place: "latest", replaces: ["latest"] },
  ServiceDied: { replaces: [] },
  StartRefused: { replaces: [] },
  DuplicateDropped: { replaces: [] },
  Inventory: { replaces: [] },
  MarkerSeen: { replaces: [] },
  ReloadEnded: { place: "latest", replaces: ["latest"] },
};

const keyOf = (event: ServiceEvent): RunId | ServiceEvent["kind"] => ("runId" in event ? event.runId : event.kind);
