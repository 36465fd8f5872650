import { backoffMs } from "@unacked/contracts";
import { CallError } from "./call-error.ts";
import { type Decoder, refusalOf } from "./decoder.ts";
import { type EventBlock, EventBlocks } from "./event-blocks.ts";
import { JoinedSignal } from "./joined-signal.ts";
import { onAbort } from "./on-abort.ts";
import { causeOf, type RawAnswer, rawOf, type Wire } from "./wire.ts";

/** A manager sends a comment every 15 s. After this silence the connection is cut, or the manager stands still. */
const MAX_SILENCE_MS = 40_000;
const DELAYS = { firstMs: 250, maxMs: 5_000 };

/** The stream broke and is opened again until it works. */
export interface Lost {
  name: "lost";
  why: string;
  cause?: unknown;
}

/**
 * One connection of a stream. Yields the events that come together, in order, until it ends or breaks. Rejects on a refusal, with
 * the reason of `signal`, or with why it broke.
 */
export async function* openStream(
  wire: Wire,
  decoder: Pick<Decoder, "problem">,
  { path, lastEventId, onOpen }: { path: string; lastEventId?: string | undefined; onOpen?(): void },
  signal: AbortSignal,
): AsyncGenerator<EventBlock[]> {
  const ending = new JoinedSignal([signal]);
  const beSilent = () => setTimeout(() => ending.abort(new Error("it fell silent")), MAX_SILENCE_MS);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const headers = { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) };
    const response = await wire.open(path, headers, ending.signal); // the wire's own time limit applies
    timer = beSilent();
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!response.ok || !isStream || response.body === null)
      throw refusalOf(await refusedBy(response, `GET ${wire.url}${path}`, signal), decoder);
    onOpen?.();
    const blocks = new EventBlocks();
    const text = new TextDecoder();
    const pieces = response.body.getReader();
    for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
      clearTimeout(timer);
      const complete = blocks.take(text.decode(piece.value, { stream: true }));
      if (complete.length > 0) yield complete; // nobody listens while the reader is at work
      timer = beSilent();
    }
  } finally {
    clearTimeout(timer);
    ending.release();
    ending.abort(); // otherwise a reader that stops would keep the connection open, and its process alive
  }
}

/** The text of a refusal may break off or fall silent, as any answer may. */
const refusedBy = (response: Response, request: string, signal: AbortSignal): Promise<RawAnswer> =>
  rawOf(response, request).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new CallError("unreachable", causeOf(error), { request, cause: error });
  });

/**
 * Follows a stream until `signal`, or the last event. Guarantees: a broken stream goes on where it was (Last-Event-ID), at any
 * manager of the address. The very first attempt fails like any call; later failures yield `lost`, and it tries again.
 */
export async function* followStream(
  wire: Wire,
  decoder: Pick<Decoder, "problem">,
  { path, last }: { path: string; last?: string },
  signal: AbortSignal,
): AsyncGenerator<EventBlock | Lost> {
  let lastEventId: string | undefined;
  // True once the stream is open, even before its first event: a manager that stops may end it by then, or break it.
  let hasBegun = false;
  const onOpen = () => void (hasBegun = true);
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      for await (const blocks of openStream(wire, decoder, { path, lastEventId, onOpen }, signal)) {
        failures = 0;
        for (const block of blocks) {
          if (signal.aborted) return; // the reader is leaving while more events of the same piece are left
          lastEventId = block.id ?? lastEventId;
          yield block;
          if (block.event === last) return;
        }
      }
      if (!signal.aborted) yield { name: "lost", why: "the manager ended it" };
    } catch (error) {
      if (signal.aborted) return;
      if (!hasBegun || isFinal(error)) throw error;
      yield { name: "lost", why: error instanceof Error ? error.message : String(error), cause: error };
    }
    await pause(backoffMs(DELAYS, failures), signal);
  }
}

/** Whether the next attempt would be answered the same. */
const isFinal = (error: unknown): boolean =>
  error instanceof CallError &&
  !error.isPassing &&
  (["redirected", "not-unacked", "misshapen"].includes(error.kind) || FINAL_CODES.has(error.code));

const FINAL_CODES: ReadonlySet<string> = new Set(["unauthorized", "forbidden", "observer-not-found"]);

/** The signal ends it early. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      forget?.();
      resolve();
    };
    const timer = setTimeout(end, ms);
    const forget = signal && onAbort(signal, end);
  });
