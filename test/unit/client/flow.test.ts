import { CallError, Client, type FlowHandle, FlowNotOver, flow } from "@unacked/client";
import { defineTask } from "@unacked/sdk";
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from "vitest";
import { z } from "zod";

const fetchPage = defineTask({
  type: "fetch",
  params: z.strictObject({ url: z.string() }),
  output: z.object({ text: z.string() }),
  run: async () => ({ text: "" }),
});
const count = defineTask({
  type: "count",
  params: z.strictObject({ from: z.int().default(0) }),
  inputs: { page: fetchPage, hints: { task: fetchPage, optional: true } },
  output: z.object({ rows: z.int() }),
  async run({ inputs }) {
    expectTypeOf(inputs.page).toEqualTypeOf<{ text: string }>();
    expectTypeOf(inputs.hints).toEqualTypeOf<{ text: string } | undefined>();
    return { rows: inputs.page.text.length };
  },
});

describe("a flow that is written down with its types", () => {
  it("is sent as the manager takes it, each type by its name", async () => {
    const plan = flow(
      [
        { ref: "page", task: fetchPage, params: { url: "u" }, priority: 3 },
        { ref: "hints", task: fetchPage, params: { url: "h" }, onFailure: "continue" },
        { ref: "count", task: count, after: ["page", "hints"] },
        { ref: "tell", task: "tell", after: ["count"], params: { anything: 1 } },
      ],
      { name: "nightly" },
    );
    const sent: unknown[] = [];
    const wire = {
      url: "http://manager",
      timeoutMs: 1_000,
      send: async ({ body }: { body: unknown }) => {
        sent.push(body);
        return { request: "POST", status: 201, contentType: "application/json", text: '{"id":"f","outcome":"created"}' };
      },
    };
    const decoder = { answer: (_: unknown, { text }: { text: string }) => JSON.parse(text) as unknown };
    const client = new Client({ wire, decoder } as unknown as ConstructorParameters<typeof Client>[0]);
    const handle = await client.flows.create(plan, { id: "f" });
    expect(sent).toEqual([
      {
        id: "f",
        name: "nightly",
        tasks: [
          { ref: "page", type: "fetch", params: { url: "u" }, priority: 3 },
          { ref: "hints", type: "fetch", params: { url: "h" }, onFailure: "continue" },
          { ref: "count", type: "count", after: ["page", "hints"] },
          { ref: "tell", type: "tell", after: ["count"], params: { anything: 1 } },
        ],
      },
    ]);
    expectTypeOf(handle).toEqualTypeOf<FlowHandle<typeof plan.steps>>();
    type Results = Awaited<ReturnType<typeof handle.result>>;
    expectTypeOf<Results["page"]>().toEqualTypeOf<{ text: string }>();
    expectTypeOf<Results["hints"]>().toEqualTypeOf<{ text: string } | undefined>();
    expectTypeOf<Results["count"]>().toEqualTypeOf<{ rows: number }>();
    expectTypeOf<Results["tell"]>().toEqualTypeOf<unknown>();
    expectTypeOf(handle.rerun).parameter(0).extract<string>().toEqualTypeOf<"page" | "hints" | "count" | "tell">();
  });

  it("does not compile with refs that do not stand before, with wrong params, or without what a task is to be given", () => {
    const page = { ref: "page", task: fetchPage, params: { url: "u" } } as const;
    const other = { ref: "page", task: otherCount } as const;
    const nobody = { ref: "count", task: count, after: ["page", "nobody"] } as const;
    // @ts-expect-error: there is no task of that name before it
    flow([page, nobody]);
    const [ahead, behind] = [{ ref: "a", task: "any", after: ["b"] } as const, { ref: "b", task: "any" } as const];
    // @ts-expect-error: that stands behind it, as in a circle
    flow([ahead, behind]);
    // @ts-expect-error: its params are not such
    flow([{ ref: "page", task: fetchPage, params: { uri: "u" } }]);
    // @ts-expect-error: it cannot do without params
    flow([{ ref: "page", task: fetchPage }]);
    // @ts-expect-error: it is to be given a page, and comes after none
    flow([page, { ref: "count", task: count }]);
    // @ts-expect-error: what is called page returns something else
    flow([other, { ref: "count", task: count, after: ["page"] }]);
    flow([page, { ref: "count", task: count, after: ["page"] }]);
    // Of any length: looked at by the manager alone.
    const many = Array.from({ length: 3 }, (_, i) => ({ ref: `t${i}`, task: "any" }));
    expect(flow(many).steps).toHaveLength(3);
  });
});

describe("the results of a flow", () => {
  const timedOut = new CallError("timed-out", "no answer within 4000 ms", { request: "GET" });
  /** A client that is answered in turn; by undefined: by nobody. The last answer again and again. */
  function clientOf(answers: unknown[]) {
    const asked: string[] = [];
    const wire = {
      url: "http://manager",
      timeoutMs: 4_000,
      send: async ({ path, query }: { path: string; query: URLSearchParams }) => {
        asked.push(`${path.split("/").at(-1)}?${query}`);
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        if (answer === undefined) throw new CallError("unreachable", "connect ECONNREFUSED", { request: "GET" });
        if (answer instanceof Error) throw answer;
        return answer;
      },
    };
    const decoder = { answer: (_: unknown, answer: unknown) => answer };
    const parts = { wire, decoder, retries: 0 } as unknown as ConstructorParameters<typeof Client>[0];
    return { flows: new Client(parts).flows, asked };
  }
  const over = { id: "f", status: "Completed" };
  const page = (ref: string, nextCursor: string | null) => ({
    items: [{ ref, status: "Completed", output: ref.length }],
    nextCursor,
  });

  it("are read over a manager's restart, each page of them", async () => {
    const { flows, asked } = clientOf([over, undefined, page("page", "c1"), undefined, page("count", null)]);
    expect(await flows.handle("f").result()).toEqual({ page: 4, count: 5 });
    expect(asked.slice(1)).toEqual([
      "tasks?outputs=true",
      "tasks?outputs=true",
      "tasks?outputs=true&cursor=c1",
      "tasks?outputs=true&cursor=c1",
    ]);
  });

  it("are given up where a page takes longer than the client waits, five times in a row: it would be asked for in vain for ever", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const four = [timedOut, timedOut, timedOut, timedOut];
    const byProxy = new CallError("not-unacked", "answered 504", { request: "GET", status: 504 });
    const { flows, asked } = clientOf([over, ...four, undefined, ...four, page("page", "c1"), timedOut, byProxy]);
    let failure: unknown;
    void flows
      .handle("f")
      .result()
      .catch((error: unknown) => (failure = error));
    await vi.advanceTimersByTimeAsync(120_000);
    expect(failure).toBe(byProxy);
    const pages = asked.slice(1);
    expect([pages.filter((query) => !query.includes("cursor")).length, pages.length]).toEqual([10, 15]);
  });

  it("are given up with the time that they and the flow's end may take together", async () => {
    const { flows } = clientOf([over, undefined]);
    const failure = await flows
      .handle("f")
      .result({ timeoutMs: 400 })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FlowNotOver);
    expect(failure).toMatchObject({
      message: "flow f is Completed, and what its tasks returned was not read after 400 ms",
      flow: over,
      cause: { kind: "unreachable" },
    });
  });
});

const otherCount = defineTask({
  type: "other",
  params: z.strictObject({}),
  output: z.object({ rows: z.int() }),
  run: async () => ({ rows: 1 }),
});
