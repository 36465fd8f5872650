import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CallError, contractDecoder, EventBlocks, type RawAnswer } from "@unacked/client";
import { CALLS, type Call, type CallName, PROBLEMS, placeOf } from "@unacked/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { UnackedApi } from "../../../cli/src/client/api.ts";
import { failureOf as cliFailureOf } from "../../../cli/src/client/call-failure.ts";
import { tlsFetch } from "../../../cli/src/client/tls-fetch.ts";
import type { CliFailure } from "../../../cli/src/failure.ts";
import { failureText } from "../../../cli/src/report.ts";
import { apiRoutes } from "../../../services/observer-manager/src/adapters/http/api/api-routes.ts";
import { openApiDocument } from "../../../services/observer-manager/src/adapters/http/openapi/document.ts";
import { observerView } from "./views.ts";

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { $ref: string };
  responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
}

describe("the table of calls, held against the OpenAPI document", () => {
  const { paths } = openApiDocument(apiRoutes({} as never), "0.0.0") as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  /** They answer with something else than a named shape. */
  const PLAIN = new Set(["followChanges", "isAlive", "getMetrics", "getDocument"]);
  const calls = Object.entries(CALLS) as [CallName, Call][];
  const operationOf = (id: string) => operations.find(({ operation }) => operation.operationId === id);
  const jsonSchema = (content: Record<string, { schema: unknown }> | undefined) => content?.["application/json"]?.schema;

  it.each(calls)("%s is there, with its method, path and parameters", (id, call) => {
    const found = operationOf(id);
    const { method, path } = placeOf(id);
    expect(found && [found.method, found.path]).toEqual([method, path]);
    const known = found?.operation.parameters?.filter((each) => each.in === "query").map(({ name }) => name) ?? [];
    expect(Object.keys(call.query?.shape ?? {})).toEqual(known);
  });

  it.each(calls)("%s sends and reads the very schemas that the document has", (id, call) => {
    const operation = operationOf(id)?.operation;
    const body = operation?.requestBody?.$ref.replace("#/components/requestBodies/", "");
    expect(body === undefined ? [] : [body]).toEqual(call.body === undefined ? [] : namesOf(call.body));
    const answers = Object.entries(operation?.responses ?? {}).filter(([status]) => status.startsWith("2"));
    expect(answers.length).toBeGreaterThan(0);
    for (const [status, { content }] of answers)
      if (PLAIN.has(id)) expect(call.answers[Number(status)]).toBeDefined();
      else expect(namesIn(jsonSchema(content))).toEqual(namesOfAnswers(call, Number(status)));
  });

  it("leave out nothing that the document has", () => {
    expect(operations.map(({ operation }) => operation.operationId).toSorted()).toEqual(Object.keys(CALLS).toSorted());
  });

  /** The named schemas that a schema of the document is, or is one of. */
  function namesIn(schema: unknown): string[] {
    const { $ref, anyOf } = (schema ?? {}) as { $ref?: string; anyOf?: unknown[] };
    return $ref === undefined ? (anyOf ?? []).flatMap(namesIn) : [$ref.replace("#/components/schemas/", "")];
  }

  const namesOfAnswers = ({ answers, minimal }: Call, status: number): string[] =>
    [answers[status], minimal?.[status]].flatMap((schema) => namesOf(schema ?? null));

  function namesOf(schema: z.ZodType | null): string[] {
    if (schema === null) return [];
    if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap(namesOf);
    return [schema.meta()?.id ?? "a schema without a name"];
  }
});

describe("an answer", () => {
  const raw = { request: "GET http://x/y", status: 200, contentType: "application/json; charset=utf-8" };
  const failureOf = (answer: RawAnswer, about?: string): CliFailure => {
    try {
      contractDecoder.answer("listObservers", answer);
    } catch (error) {
      if (error instanceof CallError) return cliFailureOf(error, "http://x", about);
    }
    throw new Error("it was taken");
  };

  it("is what the contract says", () => {
    const page = { items: [observerView()], total: 1, nextCursor: null };
    expect(contractDecoder.answer("listObservers", { ...raw, text: JSON.stringify(page) })).toEqual(page);
  });

  it("of another shape is refused, with what and where", () => {
    const page = {
      items: [observerView(), { ...observerView(), status: "Dancing", epoch: "2" }],
      total: 2,
      nextCursor: null,
    };
    const failure = failureOf({ ...raw, text: JSON.stringify(page) });
    expect(failure.exitKind).toBe("unexpectedAnswer");
    expect(failure.message).toContain("GET http://x/y");
    expect(failure.details).toEqual([
      expect.stringMatching(/^items\.1\.status: /),
      expect.stringMatching(/^items\.1\.epoch: .*string/),
    ]);
  });

  it.each([
    ["a page of something else", { contentType: "text/html", text: "<p>hi" }, "text/html"],
    ["half of one", { text: '{"items": [' }, "not JSON"],
    ["an error without a problem", { status: 500, text: '{"oops": 1}' }, "no problem document"],
  ])("that is %s names the address as suspect", (_what, changes, said) => {
    const failure = failureOf({ ...raw, ...changes } as RawAnswer);
    expect(failure.exitKind).toBe("unexpectedAnswer");
    expect(failure.message).toContain(said);
  });

  it("that is a problem is told in one line, its fields below", () => {
    const { title, remedy } = PROBLEMS["invalid-body"];
    const errors = [
      { pointer: "/params/everyMs", message: "must be number" },
      { pointer: "", message: "must be fair" },
    ];
    const problem = {
      type: "urn:x",
      title,
      status: 422,
      detail: title,
      code: "invalid-body",
      remedy,
      requestId: "r-1",
      errors,
    };
    const answer = { ...raw, status: 422, contentType: "application/problem+json", text: JSON.stringify(problem) };
    expect(failureText(failureOf(answer, "observer x"))).toBe(
      `error: observer x: ${title}.\n  /params/everyMs: must be number\n  the whole body: must be fair\n`,
    );
  });

  it("that is a problem of a newer manager is told all the same", () => {
    const problem = {
      type: "urn:x",
      title: "Too blue",
      status: 409,
      detail: "It is\u001b[2J #00f",
      code: "too-blue",
      remedy: "Paint it.",
      requestId: "r",
    };
    const answer = { ...raw, status: 409, contentType: "application/problem+json", text: JSON.stringify(problem) };
    const failure = failureOf(answer);
    expect([failure.code, failure.exitKind]).toEqual(["too-blue", "failed"]);
    expect(failureText(failure)).toBe("error: Too blue: It is\\u001b[2J #00f. Paint it.\n");
  });

  it.each(["not-ready", "database-unavailable"] as const)("%s means: try again later", (code) => {
    const problem = { ...PROBLEMS[code], type: "urn:x", detail: "x", code, requestId: "r", retryAfterS: 5 };
    const answer = { ...raw, status: 503, contentType: "application/problem+json", text: JSON.stringify(problem) };
    expect(failureOf(answer)).toMatchObject({
      exitKind: "unreachable",
      remedy: expect.stringContaining("5 s"),
    });
  });
});

describe("the connection", () => {
  let server: Server | undefined;
  afterEach(() => server?.closeAllConnections());
  afterEach(() => void server?.close());

  async function apiOf(
    answer: RequestListener,
    { token, timeoutMs = 10_000 }: { token?: string; timeoutMs?: number } = {},
  ): Promise<UnackedApi> {
    server = createServer(answer);
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return new UnackedApi({ url: `http://127.0.0.1:${port}/base`, token }, { timeoutMs });
  }

  it("reads page after page until the limit, filters and the token with each", async () => {
    const asked: string[] = [];
    const api = await apiOf(
      (request, response) => {
        asked.push(`${request.headers.authorization} ${decodeURIComponent(request.url ?? "")}`);
        const page = { items: [observerView()], total: 3, nextCursor: asked.length < 3 ? `c${asked.length}` : null };
        response.setHeader("content-type", "application/json").end(JSON.stringify(page));
      },
      { token: "t" },
    );
    const pages = [];
    for await (const page of api.pages("listObservers", { status: ["Failed"], label: ["a=b"] })) pages.push(page);
    expect(pages).toHaveLength(3);
    const query = "Bearer t /base/api/v1/observers?status=Failed&label=a=b&limit=1000";
    expect(asked).toEqual([query, `${query}&cursor=c1`, `${query}&cursor=c2`]);
    asked.length = 0;
    for await (const page of api.pages("listObservers", {}, 2)) pages.push(page);
    expect(asked.map((each) => each.split("?")[1])).toEqual(["limit=2", "limit=1&cursor=c1"]);
  });

  it("says why nobody answers, in time", async () => {
    const silent = await apiOf(() => undefined, { timeoutMs: 300 });
    await expect(silent.call("getStats", {})).rejects.toMatchObject({
      exitKind: "unreachable",
      message: expect.stringContaining("300 ms"),
    });
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    await expect(silent.call("getStats", {})).rejects.toMatchObject({ message: expect.stringContaining("ECONNREFUSED") });
  });

  describe("that is refused", () => {
    const problem = { ...PROBLEMS["not-found"], type: "urn:x", detail: "x", code: "too-blue", requestId: "r" };
    const refusing: RequestListener = (_request, response) =>
      void response.writeHead(404, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));

    it("says what it was about, by what its path names", async () => {
      const api = await apiOf(refusing);
      const refused = [
        api.call("getObserver", { path: { ref: "a" } }),
        api.call("getTask", { path: { taskId: "a" } }),
        api.call("changeTaskType", { path: { taskType: "a" }, body: {} }),
        api.call("getFlow", { path: { flowId: "a" } }),
        api.call("getTimer", { path: { timerId: "a" } }),
        api.call("getSchedule", { path: { scheduleId: "a" } }),
        api.call("getWork", { path: { workId: "a" } }),
        api.call("getError", { path: { errorId: "a" } }),
        api.call("drainService", { path: { service: "a" } }),
        api.call("getBalance", { path: { pool: "a" } }),
        api.followLogs("a", 1, AbortSignal.timeout(20_000)).next(),
        api.call("getStats", {}),
        api.call("getObserver", { path: { ref: "a" } }, { about: "b" }),
      ];
      const told = await Promise.all(refused.map((call) => call.catch((failure: CliFailure) => failure.message)));
      const subjects = told.map((message) => String(message).replace(`${problem.title}: x`, ""));
      expect(subjects).toEqual([
        ...[
          "observer",
          "task",
          "task type",
          "flow",
          "timer",
          "schedule",
          "work",
          "error",
          "service",
          "pool",
          "observer",
        ].map((noun) => `${noun} a: `),
        "",
        "b: ",
      ]);
    });

    it("has a name of the table, and all that its path names: else it does not compile", async () => {
      const api = await apiOf(refusing);
      const wrong = [
        // @ts-expect-error: there is no such call
        () => api.call("getObservr", {}),
        // @ts-expect-error: of which observer?
        () => api.call("getObserver", {}),
        // @ts-expect-error: its path has no such place
        () => api.call("getObserver", { path: { name: "a" } }),
        // @ts-expect-error: its answer has no such member
        async () => (await api.call("getObserver", { path: { ref: "a" } })).colour,
        // @ts-expect-error: no list that comes by pages
        () => api.pages("getStats", {}),
      ];
      expect(wrong).toHaveLength(5);
    });
  });

  it("follows no redirection, as a POST would become a GET", async () => {
    const api = await apiOf(
      (_request, response) => void response.writeHead(301, { location: "https://else.example/" }).end(),
    );
    await expect(api.call("getStats", {})).rejects.toMatchObject({
      exitKind: "unexpectedAnswer",
      message: expect.stringContaining("sends elsewhere: https://else.example/"),
    });
  });

  it("goes on with the changes where they broke off", async () => {
    const from: (string | undefined)[] = [];
    const api = await apiOf((request, response) => {
      from.push(request.headers["last-event-id"] as string | undefined);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        `event: ready\nid: ${from.length}\ndata: {"cursor":"1"}\n\nevent: observer\ndata: ${JSON.stringify(observerView())}\n\n`,
      );
    });
    const leaving = new AbortController();
    const kinds: string[] = [];
    for await (const news of api.changes(leaving.signal)) {
      kinds.push(news.name);
      if (kinds.length === 6) leaving.abort();
    }
    expect(kinds).toEqual(["ready", "observer", "lost", "ready", "observer", "lost"]);
    expect(from).toEqual([undefined, "1"]);
  });

  it("says at once when the changes cannot be followed at all", async () => {
    const api = await apiOf(
      (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>\n\n"),
    );
    const all = async () => {
      for await (const news of api.changes(AbortSignal.timeout(20_000))) return news;
      return undefined;
    };
    await expect(all()).rejects.toMatchObject({ exitKind: "unexpectedAnswer" });
  });
});

describe("server-sent events", () => {
  const text = ': hi\n\nevent: a\nid: 1\ndata: {"x":\ndata: 1}\n\nretry: 5\r\n\r\ndata:plain\r\n\r\nevent: b\rdata: c\r\r';

  it("are the same in pieces of any size", () => {
    const whole = [
      { event: "a", id: "1", data: '{"x":\n1}' },
      { event: "message", data: "plain" },
      { event: "b", data: "c" },
    ];
    for (const size of [1, 2, 3, 7, text.length]) {
      const blocks = new EventBlocks();
      const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
      expect(
        [...pieces, "\n"].flatMap((piece) => blocks.take(piece)),
        `pieces of ${size}`,
      ).toEqual(whole);
    }
  });
});

describe("certificates of one's own", () => {
  it("need their key, and files that can be read; without any it is Node's own fetch", () => {
    expect(tlsFetch({})).toBe(fetch);
    expect(() => tlsFetch({ clientKey: "key.pem" })).toThrow("go together");
    expect(() => tlsFetch({ certificateAuthority: "/nowhere/ca.pem" })).toThrow("/nowhere/ca.pem cannot be read");
  });
});
