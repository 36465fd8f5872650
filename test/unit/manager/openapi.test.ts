import { describe, expect, it } from "vitest";
import { openApi } from "../../support/rest/rest-contract.ts";

const document = openApi();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ call: `${method} ${path}`, path, ...operation })),
);

describe("the OpenAPI document", () => {
  it("has every call of the API, each once", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(operations.map(({ call }) => call).toSorted()).toEqual([
      "delete /api/v1/errors/{errorId}",
      "delete /api/v1/observers/{ref}",
      "delete /api/v1/observers/{ref}/checkpoint",
      "delete /api/v1/pools/{pool}/rebalance",
      "delete /api/v1/schedules/{scheduleId}",
      "delete /api/v1/session",
      "delete /api/v1/tasks/{taskId}",
      "delete /api/v1/timers/{timerId}",
      "get /api/openapi.json",
      "get /api/v1/audit",
      "get /api/v1/errors",
      "get /api/v1/errors/groups",
      "get /api/v1/errors/{errorId}",
      "get /api/v1/events",
      "get /api/v1/flows",
      "get /api/v1/flows/{flowId}",
      "get /api/v1/flows/{flowId}/tasks",
      "get /api/v1/observer-columns",
      "get /api/v1/observers",
      "get /api/v1/observers/{ref}",
      "get /api/v1/observers/{ref}/checkpoint",
      "get /api/v1/observers/{ref}/logs",
      "get /api/v1/observers/{ref}/runs",
      "get /api/v1/observers/{ref}/timeline",
      "get /api/v1/pools/{pool}/balance",
      "get /api/v1/schedules",
      "get /api/v1/schedules/{scheduleId}",
      "get /api/v1/schedules/{scheduleId}/next",
      "get /api/v1/schedules/{scheduleId}/occurrences",
      "get /api/v1/services",
      "get /api/v1/session",
      "get /api/v1/stats",
      "get /api/v1/stats/errors",
      "get /api/v1/stats/runs",
      "get /api/v1/task-failures",
      "get /api/v1/task-figures",
      "get /api/v1/task-types",
      "get /api/v1/task-types/{taskType}/figures",
      "get /api/v1/tasks",
      "get /api/v1/tasks/{taskId}",
      "get /api/v1/timers",
      "get /api/v1/timers/{timerId}",
      "get /api/v1/types",
      "get /api/v1/work",
      "get /api/v1/work/{workId}",
      "get /healthz",
      "get /metrics",
      "get /readyz",
      "patch /api/v1/observers/{ref}",
      "patch /api/v1/task-types/{taskType}",
      "patch /api/v1/tasks/{taskId}",
      "post /api/v1/errors/{errorId}/retry",
      "post /api/v1/flows",
      "post /api/v1/flows/{flowId}/cancel",
      "post /api/v1/flows/{flowId}/rerun",
      "post /api/v1/observers",
      "post /api/v1/observers/batch",
      "post /api/v1/observers/pause",
      "post /api/v1/observers/restart",
      "post /api/v1/observers/resume",
      "post /api/v1/observers/stop",
      "post /api/v1/observers/{ref}/move",
      "post /api/v1/observers/{ref}/pause",
      "post /api/v1/observers/{ref}/restart",
      "post /api/v1/observers/{ref}/resume",
      "post /api/v1/pools/{pool}/rebalance",
      "post /api/v1/schedules/preview",
      "post /api/v1/schedules/{scheduleId}/backfill",
      "post /api/v1/schedules/{scheduleId}/pause",
      "post /api/v1/schedules/{scheduleId}/resume",
      "post /api/v1/schedules/{scheduleId}/run",
      "post /api/v1/services/{service}/cordon",
      "post /api/v1/services/{service}/drain",
      "post /api/v1/services/{service}/reload",
      "post /api/v1/services/{service}/uncordon",
      "post /api/v1/session",
      "post /api/v1/task-failures/retry",
      "post /api/v1/tasks",
      "post /api/v1/tasks/batch",
      "post /api/v1/tasks/cancel",
      "post /api/v1/tasks/retry",
      "post /api/v1/tasks/take",
      "post /api/v1/tasks/{taskId}/complete",
      "post /api/v1/tasks/{taskId}/extend",
      "post /api/v1/tasks/{taskId}/fail",
      "post /api/v1/tasks/{taskId}/release",
      "post /api/v1/tasks/{taskId}/retry",
      "post /api/v1/tasks/{taskId}/retry-with",
      "post /api/v1/tasks/{taskId}/take-back",
      "post /api/v1/timers/batch",
      "post /api/v1/work",
      "post /api/v1/work/{workId}/cancel",
      "put /api/v1/observers/{ref}",
      "put /api/v1/observers/{ref}/checkpoint",
      "put /api/v1/schedules/{scheduleId}",
      "put /api/v1/timers/{timerId}",
    ]);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("names its shapes", () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(["Observer", "ObserverPage", "Run", "Service", "Stats", "ErrorEntry", "Problem"]),
    );
  });

  it("describes every parameter, and asks for none of a query", () => {
    const parameters = operations.flatMap((each) => (each.parameters ?? []).map((one) => ({ call: each.call, ...one })));
    expect(parameters.length).toBeGreaterThan(25);
    expect(parameters.filter(({ description = "" }) => description.length < 5)).toEqual([]);
    expect(parameters.filter(({ required }) => required === true).filter((one) => one.in !== "path")).toEqual([]);
    const ofList = operations.find(({ operationId }) => operationId === "listObservers")?.parameters ?? [];
    expect(ofList.map(({ name }) => name)).toEqual([
      "status",
      "type",
      "service",
      "pool",
      "label",
      "q",
      "errorGroup",
      "silent",
      "sort",
      "limit",
      "cursor",
    ]);
  });

  it("gives every call a summary and one of the tags, every tag a meaning and a call", () => {
    const names = document.tags.map(({ name }) => name);
    expect(operations.filter(({ summary, tags }) => summary.length < 5 || tags.length !== 1)).toEqual([]);
    expect([...new Set(operations.flatMap(({ tags }) => tags))].toSorted()).toEqual(names.toSorted());
    expect(document.tags.filter(({ description }) => description.length < 10)).toEqual([]);
  });

  it("has an answer of success for every call, and for every call of the API one of a request that is wrong", () => {
    const lacks = (first: string) =>
      operations.filter(({ responses }) => !Object.keys(responses).some((status) => status.startsWith(first)));
    expect(lacks("2").map(({ call }) => call)).toEqual([]);
    expect(lacks("4").filter(({ path }) => path.startsWith("/api/v1/"))).toEqual([]);
  });
});
