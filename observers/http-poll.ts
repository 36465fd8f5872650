import {
  type CheckpointContext,
  defineObserver,
  MAX_CHECKPOINT_BYTES,
  MAX_EVENT_BYTES,
  type ObserverContext,
  restrictObserver,
  sleep,
} from "@unacked/sdk";
import type { Dispatcher } from "undici";
import { z } from "zod";
import { type Answer, get } from "./http-poll/get.ts";
import { jsonPointerPattern } from "./http-poll/json-pointer.ts";
import { hasChanged, type Look } from "./http-poll/look.ts";
import { publicAgent } from "./http-poll/public-agent.ts";

const PollParams = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
    .describe("The address to GET; redirects are followed."),
  everyMs: z
    .int()
    .min(100)
    .max(86_400_000)
    .default(30_000)
    .describe("Milliseconds from the end of one look to the start of the next, 100 to 86,400,000 (a day)."),
  timeoutMs: z
    .int()
    .min(100)
    .max(300_000)
    .default(10_000)
    .describe("Milliseconds after which an answer counts as not given."),
  pointer: z
    .string()
    .regex(jsonPointerPattern, "must be a JSON pointer, for example /data/price")
    .max(1_024)
    .optional()
    .describe(
      "JSON pointer of the value to watch in the answer, for example /data/price. Leave out to watch the status alone.",
    ),
  headers: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)
        .max(128),
      z
        .string()
        .regex(/^[\t\x20-\x7e]*$/)
        .max(4_096),
    )
    .default({})
    .describe("Request headers to send along."),
});

/** `url` and `pointer`: what it is a look at; at anything else an observer looks as if for the first time. */
const PollCheckpoint = z.strictObject({
  url: z.string(),
  pointer: z.string().optional(),
  etag: z.string().optional(),
  look: z.strictObject({
    status: z.union([z.int(), z.literal("unreachable")]),
    value: z.unknown().optional(),
    error: z.string().optional(),
  }),
});

/**
 * GETs an address again and again. Emits `{ status, value?, error?, previous, at }` when the status, or the value at
 * `pointer`, differs from the look before (`previous`, null on an observer's first look; with `valueLeftOut: true` in place of its value where
 * an event has no room for both). A status is any HTTP status, or `unreachable`. Whole numbers beyond 2^53 are texts.
 *
 * Where the server gives an ETag, it is asked for what has another one (`If-None-Match`); 304 is no change. The last look and its ETag are the
 * checkpoint, so that a run on another service goes on with them: it emits only what has changed meanwhile.
 */
export default restrictObserver(({ privateAddresses }) =>
  defineObserver({
    type: "http-poll",
    description:
      "Asks a web address again and again. Emits what it finds first, at once, and then whenever the status or a value in its JSON changes.",
    params: PollParams,
    checkpoint: PollCheckpoint,
    run: (context) => poll(context, privateAddresses ? undefined : publicAgent),
  }),
);

type Params = z.output<typeof PollParams>;
type Saved = z.output<typeof PollCheckpoint>;

async function poll(
  { params, signal, log, emit, checkpoint, saveCheckpoint }: ObserverContext<Params> & CheckpointContext<Saved>,
  agent: Dispatcher | undefined,
): Promise<void> {
  const { url, headers, pointer, everyMs, timeoutMs } = params;
  const isOfThis = checkpoint?.url === url && checkpoint.pointer === pointer;
  let before: Answer | undefined = isOfThis ? checkpoint : undefined;
  do {
    const answer = await get({ url, headers, pointer, before, timeoutMs, signal, agent });
    if (answer === undefined) return;
    const isOther = hasChanged(before?.look, answer.look);
    if (isOther) {
      const { look } = answer;
      log.info("changed", { status: look.status, error: look.error });
      await emit(changeOf(look, before?.look ?? null));
    }
    if (isOther || answer.etag !== before?.etag) save(saveCheckpoint, { url, pointer, ...answer });
    before = answer;
  } while (await sleep(everyMs, signal));
}

/** Where both values have no room in an event, the one before is left out. */
function changeOf(look: Look, previous: Look | null): object {
  const change = { ...look, previous, at: new Date().toISOString() };
  if (previous?.value === undefined || Buffer.byteLength(JSON.stringify(change)) <= MAX_EVENT_BYTES) return change;
  const { value: _, ...rest } = previous;
  return { ...change, previous: { ...rest, valueLeftOut: true } };
}

/** What is too large to be kept is looked at anew by the next run, and emitted again. A failure to save is logged by the SDK. */
function save(saveCheckpoint: CheckpointContext<Saved>["saveCheckpoint"], saved: Saved): void {
  const isSmall = Buffer.byteLength(JSON.stringify(saved)) <= MAX_CHECKPOINT_BYTES;
  void saveCheckpoint(isSmall ? saved : { url: "", look: { status: saved.look.status } });
}
