import { setTimeout as sleep } from "node:timers/promises";
import { CliFailure } from "../failure.ts";
import type { Connection } from "./connection.ts";
import { type RawAnswer, refusalOf } from "./decode-answer.ts";
import { type EventBlock, EventBlocks } from "./event-blocks.ts";

/** A manager sends a comment every 15 s; a stream this silent is a wire that was cut. */
const MAX_SILENCE_MS = 40_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

/** The stream broke and is opened again until it works. */
export type StreamLost = { kind: "lost"; why: string };

export interface StreamAddress {
  /** With its query. */
  path: string;
  /** What it is about, for refusals. */
  about?: string;
  /** The event after which nothing more comes. */
  last?: string;
}

/**
 * Follows server-sent events until `signal`, or the last event. Guarantees: a broken stream goes on where it was
 * (Last-Event-ID), at any manager of the address. The very first attempt fails as any call does; later ones are told as
 * `lost` and made again.
 */
export async function* followStream(
  connection: Connection,
  address: StreamAddress,
  signal: AbortSignal,
): AsyncGenerator<EventBlock | StreamLost> {
  const place: Place = { id: undefined, hasBegun: false };
  for (let delayMs = FIRST_DELAY_MS; !signal.aborted; ) {
    try {
      for await (const block of blocksOf(connection, address, signal, place)) {
        delayMs = FIRST_DELAY_MS;
        place.id = block.id ?? place.id;
        place.hasBegun = true;
        yield block;
        if (block.event === address.last) return;
      }
      if (!signal.aborted) yield { kind: "lost", why: "the manager ended it" };
    } catch (error) {
      if (signal.aborted) return;
      if (!place.hasBegun || isFinal(error)) throw error;
      yield { kind: "lost", why: error instanceof Error ? error.message : String(error) };
    }
    await sleep(delayMs, undefined, { signal }).catch(() => undefined); // aborted: the loop sees it
    delayMs = Math.min(MAX_DELAY_MS, delayMs * 2);
  }
}

/** The next attempt would be answered the same. */
const isFinal = (error: unknown): boolean =>
  error instanceof CliFailure && (FINAL_KINDS.has(error.exitKind) || error.code === "observer-not-found");

const FINAL_KINDS: ReadonlySet<string> = new Set(["unexpectedAnswer", "notAllowed"]);

interface Place {
  id: string | undefined;
  hasBegun: boolean;
}

async function* blocksOf(
  connection: Connection,
  { path, about }: StreamAddress,
  signal: AbortSignal,
  place: Place,
): AsyncGenerator<EventBlock> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error("it fell silent")), MAX_SILENCE_MS);
  try {
    const headers: Record<string, string> = place.id === undefined ? {} : { "last-event-id": place.id };
    const response = await connection.open(path, headers, AbortSignal.any([signal, silence.signal]));
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!response.ok || !isStream || response.body === null)
      throw refusalOf(await toRaw(response, `GET ${connection.url}${path}`), about);
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

async function toRaw(response: Response, request: string): Promise<RawAnswer> {
  return {
    request,
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    text: await response.text(),
  };
}
