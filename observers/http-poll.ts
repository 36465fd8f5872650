import { defineObserver, type ObserverContext, restrictObserver, sleep } from "@unacked/sdk";
import type { Dispatcher } from "undici";
import { z } from "zod";
import { get } from "./http-poll/get.ts";
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

/**
 * GETs an address again and again. Emits `{ status, value?, error?, previous, at }` when the status, or the value at
 * `pointer`, differs from the look before (`previous`, null on a run's first look). A status is any HTTP status, or `unreachable`.
 */
export default restrictObserver(({ privateAddresses }) =>
  defineObserver({
    type: "http-poll",
    description:
      "Asks a web address again and again. Emits what it finds first, at once, and then whenever the status or a value in its JSON changes.",
    params: PollParams,
    run: (context) => poll(context, privateAddresses ? undefined : publicAgent),
  }),
);

async function poll(
  { params, signal, log, emit }: ObserverContext<z.output<typeof PollParams>>,
  agent: Dispatcher | undefined,
): Promise<void> {
  const { url, headers, pointer, everyMs, timeoutMs } = params;
  let before: Look | undefined;
  do {
    const look = await get({ url, headers, pointer, timeoutMs, signal, agent });
    if (look === undefined) return;
    if (!hasChanged(before, look)) continue;
    log.info("changed", { status: look.status, error: look.error });
    await emit({ ...look, previous: before ?? null, at: new Date().toISOString() });
    before = look;
  } while (await sleep(everyMs, signal));
}
