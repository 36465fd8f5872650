import { setTimeout as sleep } from "node:timers/promises";
import { ObserverView, ServiceView } from "@unacked/contracts";
import type { z } from "zod";
import { CliFailure } from "../failure.ts";
import type { Connection } from "./connection.ts";
import { decodeAnswer, type RawAnswer, refusalOf } from "./decode-answer.ts";
import { type EventBlock, EventBlocks } from "./event-blocks.ts";

export const EVENTS_PATH = "/api/v1/events";

/** A manager sends a comment every 15 s; a stream this silent is a wire that was cut. */
const MAX_SILENCE_MS = 40_000;
/** The next attempt would be answered the same. */
const NO_USE: ReadonlySet<string> = new Set(["unexpectedAnswer", "notAllowed"]);
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

/**
 * `ready`: everything from here on is told. `resync`: something was skipped, read anew what you know. `lost`: the stream
 * broke and is opened again until it works.
 */
export type ChangeNews =
  | { kind: "observer"; view: ObserverView }
  | { kind: "service"; view: ServiceView }
  | { kind: "ready" }
  | { kind: "resync" }
  | { kind: "lost"; why: string };

/**
 * Follows GET /events until `signal`. Comes in: nothing; the first `ready` is the beginning. Guarantees: no change is
 * skipped without a `resync`, as a broken stream goes on where it was (Last-Event-ID) at any manager of the address. The very
 * first attempt fails as any call does; later ones are told as `lost` and made again.
 */
export async function* followChanges(connection: Connection, signal: AbortSignal): AsyncGenerator<ChangeNews> {
  const place: Place = { id: undefined, hasBegun: false };
  for (let delayMs = FIRST_DELAY_MS; !signal.aborted; ) {
    try {
      for await (const block of blocksOf(connection, signal, place)) {
        delayMs = FIRST_DELAY_MS;
        place.id = block.id ?? place.id;
        place.hasBegun = true;
        yield* newsOf(block, connection.url);
      }
      if (!signal.aborted) yield { kind: "lost", why: "the manager ended it" };
    } catch (error) {
      if (signal.aborted) return;
      const isWorthAnother = place.hasBegun && !(error instanceof CliFailure && NO_USE.has(error.exitKind));
      if (!isWorthAnother) throw error;
      yield { kind: "lost", why: error instanceof Error ? error.message : String(error) };
    }
    await sleep(delayMs, undefined, { signal }).catch(() => undefined); // aborted: the loop sees it
    delayMs = Math.min(MAX_DELAY_MS, delayMs * 2);
  }
}

interface Place {
  id: string | undefined;
  hasBegun: boolean;
}

async function* blocksOf(connection: Connection, signal: AbortSignal, place: Place): AsyncGenerator<EventBlock> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error("it fell silent")), MAX_SILENCE_MS);
  try {
    const headers: Record<string, string> = place.id === undefined ? {} : { "last-event-id": place.id };
    const response = await connection.open(EVENTS_PATH, headers, AbortSignal.any([signal, silence.signal]));
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!response.ok || !isStream || response.body === null) throw refusalOf(await toRaw(response, connection));
    const blocks = new EventBlocks();
    const decoder = new TextDecoder();
    for await (const piece of response.body) {
      timer.refresh();
      yield* blocks.take(decoder.decode(piece as Uint8Array, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
  }
}

async function toRaw(response: Response, connection: Connection): Promise<RawAnswer> {
  return {
    request: `GET ${connection.url}${EVENTS_PATH}`,
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    text: await response.text(),
  };
}

function newsOf(block: EventBlock, url: string): ChangeNews[] {
  switch (block.event) {
    case "observer":
      return [{ kind: "observer", view: decodeEvent(ObserverView, block, url) }];
    case "service":
      return [{ kind: "service", view: decodeEvent(ServiceView, block, url) }];
    case "ready":
    case "resync":
      return [{ kind: block.event }];
    default:
      return []; // a newer manager's; the format asks to pass over what one does not know
  }
}

const decodeEvent = <Schema extends z.ZodType>(schema: Schema, { event, data }: EventBlock, url: string): z.output<Schema> =>
  decodeAnswer(schema, {
    request: `the event "${event}" of GET ${url}${EVENTS_PATH}`,
    status: 200,
    contentType: "application/json",
    text: data,
  });
