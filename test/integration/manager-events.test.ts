import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ManagerApi } from "../../services/observer-manager/src/operations/manager-api.ts";
import { eventually } from "../support/eventually.ts";
import { type EventClient, followEvents } from "../support/rest/event-client.ts";
import { type HttpManager, startHttpManager } from "../support/rest/http-manager.ts";
import { putObserver, useBooks } from "../support/servers/books.ts";

const books = useBooks();

const change = async (columns: Record<string, unknown> = {}) => {
  const id = await putObserver(books.dataSource, columns);
  await books.dataSource.query("NOTIFY unacked_changes");
  return id;
};

const follow = async (manager: HttpManager, lastEventId?: string, query = "") => {
  const client = await followEvents(
    `${manager.url}/api/v1/events${query}`,
    lastEventId === undefined ? {} : { "last-event-id": lastEventId },
  );
  await eventually(() => client.events.some(({ event }) => event === "ready"));
  return client;
};

const sees = (client: EventClient, id: string) =>
  eventually(() => {
    const event = client.events.find(({ data }) => data.id === id);
    expect(event).toBeDefined();
    return event;
  });

/** Counts what is sent to each subscriber. */
function counted(changes: ManagerApi["changes"], sent: number[]): ManagerApi["changes"] {
  return {
    subscribe(sink, lastEventId) {
      const index = sent.push(0) - 1;
      const send: typeof sink.send = (event) => {
        sent[index] = (sent[index] ?? 0) + 1;
        return sink.send(event);
      };
      return changes.subscribe({ send, end: () => sink.end() }, lastEventId);
    },
  };
}

/** A client whose reading can be paused; keeps the ids that it saw. */
async function rawClient(url: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const ids = new Set<string>();
  let tail = "";
  socket.on("data", (chunk) => {
    const text = tail + chunk.toString("latin1");
    for (const [, id] of text.matchAll(/data: {"id":"([0-9a-f-]{36})"/g)) ids.add(id ?? "");
    tail = text.slice(-64);
  });
  socket.write("GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  return { socket, ids };
}

describe("GET /events", () => {
  test("is a stream of changes, each with the whole view, that another manager continues", async () => {
    const [one, other] = [await startHttpManager(books.databaseUrl), await startHttpManager(books.databaseUrl)];
    const client = await follow(one);
    expect(client.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const id = await change({ labels: { a: "b" } });
    const event = await sees(client, id);
    expect(event).toMatchObject({ event: "observer", id: expect.stringMatching(/^\d+\.\d+\.\d+-\d+$/) });
    expect(event?.data).toEqual((await one.call("GET", `/api/v1/observers/${id}`)).body);
    client.close();

    const missed = await change();
    for (const [lastEventId, query] of [
      [event?.id, ""],
      [undefined, `?lastEventId=${event?.id}`],
    ]) {
      const again = await follow(other, lastEventId, query);
      await sees(again, missed);
      expect(again.events.map(({ data }) => data.id)).not.toContain(id);
    }
  });

  test("says resync to a place that it does not know, and goes on from now", async () => {
    const manager = await startHttpManager(books.databaseUrl);
    const client = await follow(manager, "from-somewhere-else");
    expect(client.events[0]).toMatchObject({ event: "resync", data: { reason: "unknown-position" } });
    await sees(client, await change());
  });

  test("answers HEAD without a stream", async () => {
    const manager = await startHttpManager(books.databaseUrl);
    const head = await manager.call("HEAD", "/api/v1/events");
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  test("does not queue without end for a client that does not read, and serves it when it reads again", async () => {
    const sent: number[] = []; // events given to each client's connection, in the order in which they came
    const manager = await startHttpManager(books.databaseUrl, (api) => ({ ...api, changes: counted(api.changes, sent) }));
    const { socket, ids: received } = await rawClient(manager.url);
    await eventually(() => sent[0] === 1);
    socket.pause();
    const quick = await follow(manager);
    const ids: string[] = [];
    for (let count = 0; count < 150; count += 1) ids.push(await change({ params: "x".repeat(200_000) }));
    await sees(quick, ids.at(-1) ?? "");
    expect(sent[1]).toBeGreaterThan(150);
    expect(sent[0]).toBeLessThan(75); // of 30 MB: what the system's socket buffers took, and 1 MiB of ours
    socket.resume();
    await eventually(() => expect(ids.filter((id) => !received.has(id))).toEqual([]), { timeoutMs: 20_000 });
  });

  test("is ended in order when the manager closes, which takes no new connections then", async () => {
    const manager = await startHttpManager(books.databaseUrl);
    const client = await follow(manager);
    const startedAt = performance.now();
    await manager.close();
    await client.ended;
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    await expect(manager.call("GET", "/healthz")).rejects.toThrow();
  });
});
