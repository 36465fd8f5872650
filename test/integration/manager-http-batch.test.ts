import { PROBLEMS } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { useHttpManager } from "../support/rest/http-manager.ts";
import type { Called } from "../support/rest/rest-client.ts";
import { putObserver, putService } from "../support/servers/books.ts";

const OBSERVERS = "/api/v1/observers";
const BATCH = `${OBSERVERS}/batch`;

const { books, manager } = useHttpManager({ emptied: "observers, services, commands" });

const workers = (count: number) =>
  putService(books.dataSource, {
    worker_count: count,
    types: [{ type: "ticker", description: "", paramsSchema: { type: "object", required: ["everyMs"] } }],
  });
const ticker = (name: string, more: object = {}) => ({ name, type: "ticker", params: { everyMs: 10 }, ...more });
const post = (observers: unknown[], more: object = {}) => manager.call("POST", BATCH, { json: { observers, ...more } });
const codesOf = ({ body, text }: Called): string[] => {
  expect(body.results, text.slice(0, 300)).toBeDefined();
  return body.results.map((one: { problem?: { code: string }; status: number }) => one.problem?.code ?? String(one.status));
};
const countOf = async () => (await manager.call("GET", OBSERVERS)).body.total as number;

describe("POST /observers/batch", () => {
  test("answers each in the order given, as the single call would have", async () => {
    await workers(5);
    await putObserver(books.dataSource, { name: "taken", status: "Failed" });
    const id = "0190b7c8-1111-7000-8000-000000000001";
    const answer = await post([
      ticker("a", { id, labels: { team: "x" } }),
      ticker("taken"),
      ticker("a b"),
      null,
      { ...ticker("colour"), colour: "red" },
      ticker("no-params", { params: {} }),
      ticker("big", { params: { everyMs: 1, text: "x".repeat(262_144) } }),
      ticker("unknown", { type: "unheard-of" }),
      ticker("b"),
      ticker("a", { id, labels: { team: "x" } }),
    ]);
    expect(answer.status).toBe(200);
    expect(codesOf(answer)).toEqual([
      "201",
      "name-taken",
      "invalid-body",
      "invalid-body",
      "invalid-body",
      "invalid-body",
      "body-too-large",
      "unknown-type",
      "201",
      "200",
    ]);
    const { results } = answer.body;
    expect(results[0].observer).toEqual((await manager.call("GET", `${OBSERVERS}/a`)).body);
    expect(results[2].problem).toMatchObject({ errors: [{ pointer: "/name" }], status: 422, code: "invalid-body" });
    expect(results[4].problem.errors).toMatchObject([{ pointer: "/colour" }]);
    expect(results[5].problem.errors).toMatchObject([{ pointer: "/params/everyMs" }]);
    for (const { problem, status } of results)
      if (problem) expect([problem.status, problem.requestId]).toEqual([status, answer.headers.get("x-request-id")]);
    expect(await countOf()).toBe(3);
  });

  test("takes what the single call refuses for its odd characters as that one observer's fault", async () => {
    await workers(5);
    const odd = '{"name":"x","type":"ticker","params":{"__proto__":1}},{"name":"y","type":"ticker","params":"\\u0000"}';
    const deep = `{"name":"z","type":"ticker","params":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    const body = `{"observers":[${odd},${deep},${JSON.stringify(ticker("good"))}]}`;
    const answer = await manager.call("POST", BATCH, { body, headers: { "content-type": "application/json" } });
    expect(codesOf(answer)).toEqual(["invalid-body", "invalid-body", "invalid-body", "201"]);
    expect(answer.body.results[0].problem.errors).toMatchObject([{ pointer: "/params/__proto__" }]);
    expect(answer.body.results[1].problem.errors).toMatchObject([{ pointer: "/params" }]);
  });

  test("gives the workers that are free, and says Retry-After of the others", async () => {
    await workers(2);
    const answer = await post([ticker("a"), ticker("b"), ticker("c"), ticker("d", { whenFull: "queue" })]);
    expect(codesOf(answer)).toEqual(["201", "201", "no-free-worker", "201"]);
    expect(answer.body.results[2].problem.retryAfterS).toBeGreaterThan(0);
  });

  test("atomic: creates all or none, and tells the innocent from those to blame", async () => {
    await workers(5);
    const shape = await post([ticker("a"), ticker("b c"), ticker("d")], { atomic: true });
    expect(codesOf(shape)).toEqual(["batch-refused", "invalid-body", "batch-refused"]);
    expect(codesOf(await post([ticker("a"), ticker("a")], { atomic: true }))).toEqual(["batch-refused", "name-taken"]);
    expect(await countOf()).toBe(0);
    expect(codesOf(await post([ticker("a"), ticker("b")], { atomic: true }))).toEqual(["201", "201"]);
    expect(await countOf()).toBe(2);
  });

  test("refuses a body that is not a batch, and one for which the manager is not ready", async () => {
    for (const [json, pointer] of [
      [{}, "/observers"],
      [{ observers: [] }, "/observers"],
      [{ observers: {} }, "/observers"],
      [{ observers: [{}], atomic: "yes" }, "/atomic"],
      [{ observers: [{}], colour: 1 }, "/colour"],
      [{ observers: Array.from({ length: 10_001 }, () => ({})) }, "/observers"],
    ] as const) {
      const refused = await manager.call("POST", BATCH, { json });
      expect([refused.status, refused.body.code, refused.body.errors[0].pointer]).toEqual([422, "invalid-body", pointer]);
    }
    manager.setReady(false);
    expect((await post([ticker("a")])).body.code).toBe("not-ready");
  });

  test("takes bodies of up to 32 MiB, where other calls take 256 KiB", async () => {
    await workers(200);
    const params = { everyMs: 1, text: "x".repeat(250_000) };
    const many = Array.from({ length: 120 }, (_, i) => ticker(`n-${i}`, { params }));
    expect(new Set(codesOf(await post(many)))).toEqual(new Set(["201"]));
    const tooMany = await post(Array.from({ length: 140 }, (_, i) => ticker(`m-${i}`, { params })));
    expect([tooMany.status, tooMany.body.code]).toEqual([413, "body-too-large"]);
    expect((await manager.call("POST", OBSERVERS, { json: ticker("x", { params: "x".repeat(262_144) }) })).status).toBe(413);
  });

  test("creates ten thousand in a second or two", async () => {
    await workers(10_000);
    const observers = Array.from({ length: 10_000 }, (_, i) => ticker(`n-${i}`, { labels: { part: String(i % 7) } }));
    const startedAt = performance.now();
    const answer = await post(observers);
    const tookMs = Math.round(performance.now() - startedAt);
    console.log(`10,000 creates in one batch: ${tookMs} ms`);
    expect(new Set(codesOf(answer))).toEqual(new Set(["201"]));
    expect(answer.body.results.map((one: { observer: { name: string } }) => one.observer.name)).toEqual(
      observers.map(({ name }) => name),
    );
    expect(await countOf()).toBe(10_000);
    expect(tookMs).toBeLessThan(60_000); // on a machine that does other things too
  });
});

describe("a word of the API that is also somebody's name", () => {
  test("is found by its name all the same, and told which methods there are", async () => {
    const id = await putObserver(books.dataSource, { name: "batch", status: "Failed" });
    expect((await manager.call("GET", BATCH)).body).toMatchObject({ id, name: "batch" });
    expect((await manager.call("GET", `${BATCH}/runs`)).status).toBe(200);
    const refused = await manager.call("LOCK", BATCH);
    expect([refused.body.code, refused.headers.get("allow")?.split(", ").toSorted()]).toEqual([
      "method-not-allowed",
      ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"],
    ]);
    expect((await manager.call("POST", `${OBSERVERS}/other`)).status).toBe(PROBLEMS["method-not-allowed"].status);
    expect((await manager.call("DELETE", BATCH)).status).toBe(202);
  });
});
