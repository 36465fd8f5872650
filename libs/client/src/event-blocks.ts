import { createParser, type EventSourceParser } from "eventsource-parser";

/** One server-sent event (WHATWG HTML, 9.2.6). */
export interface EventBlock {
  event: string;
  data: string;
  id?: string | undefined;
}

/** Takes the text of a stream in pieces of any size and returns the events that are complete. Comments are left out. */
export class EventBlocks {
  #complete: EventBlock[] = [];
  readonly #parser: EventSourceParser = createParser({
    onEvent: ({ event = "message", data, id }) => void this.#complete.push({ event, data, ...(id !== undefined && { id }) }),
  });

  take(piece: string): EventBlock[] {
    this.#parser.feed(piece);
    const complete = this.#complete;
    this.#complete = [];
    return complete;
  }
}
