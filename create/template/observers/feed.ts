import { createHash } from "node:crypto";
import { defineObserver, sleep } from "@unacked/sdk";
import { z } from "zod";

/** A JSON Feed (jsonfeed.org), as far as it is needed here. */
export const Feed = z.object({
  items: z.array(z.object({ id: z.string(), title: z.string().default(""), url: z.string().optional() })),
});

/** So many items are remembered that the feed has no more: one may come back. */
const REMEMBERED = 500;

/** What is remembered of an item: an id may be a long URL, and a checkpoint has at most 64 KiB, which is some 3,400 of these. */
const markOf = (id: string): string => createHash("sha256").update(id).digest("hex").slice(0, 16);

/**
 * Looks at a feed, forever, and emits each item that it has not seen. After a crash it goes on from what it saved: the items
 * of the last second before the crash may come twice, and none is left out. What it throws ends this attempt, and it is started again.
 */
export default defineObserver({
  type: "feed",
  description: "Emits each new item of a JSON Feed.",
  params: z.strictObject({ url: z.url(), everyMs: z.int().min(10).default(60_000) }),
  checkpoint: z.object({ seen: z.array(z.string()) }),
  async run(ctx) {
    const { url, everyMs } = ctx.params;
    const seen = new Set(ctx.checkpoint?.seen);
    do {
      const answer = await fetch(url, { signal: ctx.signal });
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
      const { items } = Feed.parse(await answer.json());
      const now = new Set(items.map(({ id }) => markOf(id)));
      const gone = [...seen].filter((mark) => !now.has(mark));
      for (const mark of gone.slice(0, -REMEMBERED)) seen.delete(mark);
      for (const { id, title, url: link } of items) {
        if (seen.has(markOf(id))) continue;
        await ctx.emit({ id, title, link });
        seen.add(markOf(id));
        void ctx.saveCheckpoint({ seen: [...seen] }); // not awaited: one a second is saved, the latest
      }
    } while (await sleep(everyMs, ctx.signal));
  },
});
