import { defineTask } from "@unacked/sdk";
import { z } from "zod";
import { Feed } from "./feed.ts";

/** Ends, unlike an observer: reads the feed once, and its result is kept. apply/schedules.yaml has it run each morning. */
export default defineTask({
  type: "feed-digest",
  description: "The titles that a JSON Feed has now.",
  params: z.strictObject({ url: z.url(), until: z.iso.datetime().optional() }),
  output: z.object({ until: z.string(), titles: z.array(z.string()) }),
  retry: { maxAttempts: 5 },
  async run(ctx) {
    const { url, until = new Date().toISOString() } = ctx.params;
    const answer = await fetch(url, { signal: ctx.signal });
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
    const titles = Feed.parse(await answer.json()).items.map(({ title }) => title);
    ctx.log.info("digest", { url, titles: titles.length });
    return { until, titles };
  },
});
