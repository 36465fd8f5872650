import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { runObserver, runTask } from "@unacked/sdk";
import feed from "./feed.ts";
import feedDigest from "./feed-digest.ts";

test("an item is emitted once, also by the run after a crash", async (t) => {
  const { url, items } = await serveFeed(t);
  items.push({ id: "1", title: "first" });
  const run = runObserver(feed, { params: { url, everyMs: 10 } });
  assert.deepEqual(await run.waitForEvent(), { id: "1", title: "first" });
  await run.spy.waitFor("checkpoint");

  const next = await run.crash();
  items.push({ id: "2", title: "second" });
  await next.waitForEvent<{ id: string }>(({ id }) => id === "2");
  assert.deepEqual(
    next.events.map((event) => (event as { id: string }).id).filter((id) => id !== "1"),
    ["2"],
  );
  assert.deepEqual(await next.stop(), { outcome: "stopped" });
});

test("a feed of long ids is remembered as any other", async (t) => {
  const { url, items } = await serveFeed(t);
  for (let n = 1; n <= 500; n += 1) items.push({ id: `${url}${"a-long-title/".repeat(20)}${n}`, title: `${n}` });
  const run = runObserver(feed, { params: { url, everyMs: 10 } });
  await run.spy.waitFor("checkpoint", (saved) => (saved as { seen: string[] }).seen.length === 500);

  const next = await run.crash();
  items.push({ id: "501", title: "501" });
  await next.waitForEvent();
  assert.deepEqual(next.events, [{ id: "501", title: "501" }]);
  await next.stop();
});

test("of a long feed no item comes twice, as long as it has it and a while beyond", async (t) => {
  const { url, items, looks } = await serveFeed(t);
  for (let n = 1; n <= 501; n += 1) items.push({ id: `${n}`, title: `${n}` });
  const run = runObserver(feed, { params: { url, everyMs: 10 } });
  const moreLooks = async () => {
    const before = looks();
    while (looks() < before + 3) await setImmediate();
  };
  await run.waitForEvent<{ id: string }>(({ id }) => id === "501");
  await moreLooks();
  const gone = items.splice(0, 400);
  await moreLooks();
  items.push(...gone);
  await moreLooks();
  assert.equal(run.events.length, 501);
  await run.stop();
});

test("a feed that is not there fails the run, which is then tried again", async (t) => {
  const { url } = await serveFeed(t);
  const end = await runObserver(feed, { params: { url: `${url}missing` } }).finished;
  assert.ok(end.outcome === "failed" && /answered 404/.test(String(end.error)));
});

test("the digest has the titles of now", async (t) => {
  const { url, items } = await serveFeed(t);
  items.push({ id: "1", title: "first" }, { id: "2", title: "second" });
  const result = await runTask(feedDigest, { params: { url, until: "2026-01-01T07:00:00Z" } });
  assert.deepEqual(result, { until: "2026-01-01T07:00:00Z", titles: ["first", "second"] });
});

/** A feed on this machine, until the test is over. */
async function serveFeed(t: TestContext) {
  const items: { id: string; title: string }[] = [];
  let looks = 0;
  const server = createServer(({ url }, answer) => {
    looks += 1;
    answer.statusCode = url === "/" ? 200 : 404;
    answer.end(JSON.stringify({ items }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, items, looks: () => looks };
}
