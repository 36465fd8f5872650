import { describe, expect, it } from "vitest";
import { PROCESSING } from "../../services/observer-manager/src/adapters/http/openapi/examples/observer-examples.ts";
import { problemExample } from "../../services/observer-manager/src/adapters/http/openapi/examples/problem-examples.ts";
import { openApi, RestContract, type SeenAnswer } from "../support/rest/rest-contract.ts";

const contract = new RestContract(openApi());
const ONE = "http://127.0.0.1:8080/api/v1/observers/shop-front";

/** An answer with everything that every answer has. */
function answered(change: Partial<Omit<SeenAnswer, "headers">> & { body?: unknown; headers?: Record<string, string> }) {
  const { body = PROCESSING, headers = {}, ...rest } = change;
  return contract.flawsOf({
    method: "GET",
    url: ONE,
    status: 200,
    text: JSON.stringify(body),
    headers: new Headers({
      "content-type": "application/json; charset=utf-8",
      "x-request-id": "r-1",
      etag: "1",
      ...headers,
    }),
    ...rest,
  });
}

const problem = { "content-type": "application/problem+json" };

describe("an answer is as the document says", () => {
  it.each([
    ["the body is whole", {}],
    ["it carries what nobody can foresee", { body: { ...PROCESSING, params: [null], labels: { any: "one" } } }],
    ["HEAD has no body", { method: "HEAD", text: "" }],
    ["its problem is one of the call's", { status: 404, headers: problem, body: problemExample("observer-not-found") }],
    ["nothing is there", { method: "DELETE", url: "/api/v1/errors/1", status: 204, text: "" }],
    [
      "a number in a header is a text",
      { status: 503, headers: { ...problem, "retry-after": "2" }, body: problemExample("database-unavailable") },
    ],
    [
      "a word of the API goes before a name",
      { method: "POST", url: "/api/v1/observers/stop", body: { matched: 0, accepted: 0, refused: {} } },
    ],
    ["there is no such path", { url: "/api/v1/x", status: 404, headers: problem, body: problemExample("not-found") }],
    [
      "there is no such method",
      { method: "POST", status: 405, headers: { ...problem, allow: "GET" }, body: problemExample("method-not-allowed") },
    ],
    ["it is a page for people", { url: "/observers", headers: { "content-type": "text/html" }, text: "<p>" }],
  ])("where %s", (_what, change) => {
    expect(answered(change)).toEqual([]);
  });
});

describe("an answer is told as flawed", () => {
  it.each([
    ["a field that the document does not know", { body: { ...PROCESSING, colour: "red" } }, "colour"],
    ["the same further down", { body: { ...PROCESSING, service: { ...PROCESSING.service, pid: 1 } } }, "/service"],
    ["a field that is missing", { body: { ...PROCESSING, epoch: undefined } }, "epoch"],
    ["params that are missing", { body: { ...PROCESSING, params: undefined } }, "params"],
    ["a value of another type", { body: { ...PROCESSING, epoch: "1" } }, "/epoch must be integer"],
    ["a text of another format", { body: { ...PROCESSING, createdAt: "yesterday" } }, "/createdAt"],
    ["a word that is none of its list", { body: { ...PROCESSING, status: "Dancing" } }, "/status"],
    ["a status that is not described", { status: 418 }, "knows only 200"],
    ["another media type", { headers: { "content-type": "text/plain" } }, 'media type "text/plain"'],
    ["no JSON", { text: "{" }, "must be object"],
    [
      "a problem of other calls",
      { status: 404, headers: problem, body: problemExample("error-not-found") },
      "error-not-found",
    ],
    ["a body where none belongs", { method: "DELETE", url: "/api/v1/errors/1", status: 204 }, "has a body"],
    ["no X-Request-Id", { headers: { "x-request-id": "" } }, "X-Request-Id"],
    ["no Retry-After", { status: 503, headers: problem, body: problemExample("not-ready") }, "Retry-After"],
    ["no Allow", { method: "PUT", status: 405, headers: problem, body: problemExample("method-not-allowed") }, "Allow"],
    ["a call that nobody described", { url: "/api/v1/secrets" }, "no operation"],
  ])("for %s", (_what, change, told) => {
    const flaws = answered(change as Parameters<typeof answered>[0]);
    expect(flaws.join("\n")).toContain(told);
  });

  it("as an event of a stream", () => {
    const flawsOfEvent = (event: string, data: unknown) => contract.flawsOfEvent("/api/v1/events", event, data);
    const flawsOfLogs = (event: string, data: unknown) => contract.flawsOfEvent(`${ONE}/logs?follow=true`, event, data);
    expect(flawsOfLogs("omitted", { count: 1 })).toEqual([]);
    expect(flawsOfLogs("ready", { cursor: "1" })).not.toEqual([]);
    expect(flawsOfEvent("observer", PROCESSING)).toEqual([]);
    expect(flawsOfEvent("ready", { cursor: "1" })).toEqual([]);
    expect(flawsOfEvent("observer", { ...PROCESSING, colour: "red" })).not.toEqual([]);
    expect(flawsOfEvent("party", PROCESSING)).not.toEqual([]);
    expect(flawsOfEvent("resync", { cursor: "1" })).not.toEqual([]);
    expect(contract.flawsOfEvent("/api/v1/stats", "ready", { cursor: "1" })).not.toEqual([]);
  });
});
