import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROBLEMS, type ProblemCode, ProblemDetails, problemType } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { apiRoutes } from "../../../services/observer-manager/src/adapters/http/api-routes.ts";
import { toProblemDetails } from "../../../services/observer-manager/src/adapters/http/http-problem.ts";
import { openApiDocument } from "../../../services/observer-manager/src/adapters/http/openapi.ts";

const CODES = Object.keys(PROBLEMS) as ProblemCode[];
const SOURCES = join(import.meta.dirname, "../../../services/observer-manager/src");

/** Routes are described before anything is asked of them. */
const routes = apiRoutes({} as never);

describe("the catalogue of problems", () => {
  it("holds no code that nothing in the manager answers with", () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(30);
    const text = files.map((file) => readFileSync(join(SOURCES, file), "utf8")).join("\n");
    expect(CODES.filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });

  it("is told whole by the OpenAPI document, but for the one of unknown paths", () => {
    const text = JSON.stringify(openApiDocument(routes, "0.0.0"));
    expect(CODES.filter((code) => !text.includes(`\`${code}\``))).toEqual(["not-found"]);
  });

  it("gives each code a status of an error, a title and a remedy, and each answer the shape of the document", () => {
    for (const code of CODES) {
      const problem = toProblemDetails({ kind: "problem", code }, "r-1");
      expect(ProblemDetails.parse(problem)).toEqual(problem);
      expect(problem).toMatchObject({ type: problemType(code), code, requestId: "r-1" });
      expect(problem.status).toBeGreaterThanOrEqual(400);
      expect(problem.title.length).toBeGreaterThan(5);
      expect(problem.remedy.length).toBeGreaterThan(5);
      expect(problem.retryAfterS !== undefined, code).toBe(problem.status === 503);
    }
  });
});

describe("the OpenAPI document", () => {
  const document = openApiDocument(routes, "1.2.3") as {
    openapi: string;
    paths: Record<
      string,
      Record<string, { operationId: string; parameters?: { name: string; in: string; required?: boolean }[] }>
    >;
    components: { schemas: Record<string, unknown> };
  };

  it("has every call of the API, each once", () => {
    expect(document.openapi).toBe("3.1.0");
    const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(calls.toSorted()).toEqual([
      "delete /api/v1/errors/{errorId}",
      "delete /api/v1/observers/{ref}",
      "get /api/v1/errors",
      "get /api/v1/errors/groups",
      "get /api/v1/errors/{errorId}",
      "get /api/v1/events",
      "get /api/v1/observers",
      "get /api/v1/observers/{ref}",
      "get /api/v1/observers/{ref}/logs",
      "get /api/v1/observers/{ref}/runs",
      "get /api/v1/services",
      "get /api/v1/stats",
      "get /api/v1/stats/errors",
      "get /api/v1/types",
      "get /healthz",
      "get /readyz",
      "post /api/v1/errors/{errorId}/retry",
      "post /api/v1/observers",
      "post /api/v1/observers/batch",
      "post /api/v1/observers/restart",
      "post /api/v1/observers/stop",
      "post /api/v1/observers/{ref}/restart",
      "post /api/v1/services/{service}/drain",
    ]);
    const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((call) => call.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("names its shapes, and asks for no parameter of a query", () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        "CreateObserver",
        "Observer",
        "ObserverPage",
        "Run",
        "Service",
        "Stats",
        "ErrorEntry",
        "Problem",
      ]),
    );
    const parameters = document.paths["/api/v1/observers"]?.["get"]?.parameters ?? [];
    expect(parameters.map(({ name }) => name)).toEqual([
      "status",
      "type",
      "service",
      "pool",
      "label",
      "q",
      "errorGroup",
      "sort",
      "limit",
      "cursor",
    ]);
    expect(parameters.filter(({ required }) => required === true)).toEqual([]);
  });
});
