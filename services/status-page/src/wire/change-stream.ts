import { CallError, type EventBlock, openStream, trustingDecoder, Wire } from "@unacked/client";
import { placeOf } from "@unacked/contracts";
import { BASE_PATH } from "./base-path.ts";

export interface ChangeStreamSink {
  /** Events that came together, in order. */
  events(blocks: EventBlock[]): void;
  /** It broke off, and is opened again and again. `unauthorized`: the manager itself does not know any more who asks. */
  broken(reason: "lost" | "unauthorized"): void;
}

const REOPEN_MS = 1_000;

const wire = new Wire({ url: BASE_PATH });

/**
 * Follows `GET /events` until it is closed. A stream that breaks off goes on where it was (Last-Event-ID): the manager sends what
 * came since, or says that it cannot (`resync`). Not an EventSource: that does not hear the comments by which a silent stream
 * is told from a dead one, and gives no reason when it is refused.
 */
export class ChangeStream {
  readonly #sink: ChangeStreamSink;
  readonly #closing = new AbortController();
  #lastEventId: string | undefined;

  constructor(sink: ChangeStreamSink, lastEventId?: string) {
    this.#sink = sink;
    this.#lastEventId = lastEventId;
    void this.#run();
  }

  /** Everything up to here has come. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const reason = await this.#follow(signal);
      if (signal.aborted) return;
      this.#sink.broken(reason);
      await new Promise((resolve) => setTimeout(resolve, REOPEN_MS));
    }
  }

  /** Resolves when the stream is over. */
  async #follow(closing: AbortSignal): Promise<"lost" | "unauthorized"> {
    const place = { path: placeOf("followChanges").path, lastEventId: this.#lastEventId };
    try {
      for await (const events of openStream(wire, trustingDecoder, place, closing)) this.#take(events);
      return "lost";
    } catch (error) {
      // Why else is no news: it is tried again.
      return error instanceof CallError && (error.code === "unauthorized" || error.code === "forbidden")
        ? "unauthorized"
        : "lost";
    }
  }

  #take(events: EventBlock[]): void {
    if (this.#closing.signal.aborted) return;
    this.#lastEventId = events.findLast(({ id }) => id !== undefined)?.id ?? this.#lastEventId;
    this.#sink.events(events);
  }
}
