import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { requestMetrics } from "../../../services/observer-manager/src/adapters/http/server/request-metrics.ts";

test.each([
  [true, 200],
  [false, undefined],
])(
  "An answer that was begun (%s) has the status %s: Node's 200 is none where the client has left before",
  (headersSent, status) => {
    const measured: object[] = [];
    const response = Object.assign(new EventEmitter(), { headersSent, statusCode: 200, getHeader: () => undefined });
    const measure = requestMetrics({ answered: (request) => void measured.push(request) });
    measure({ method: "GET", route: { path: "/tasks/:taskId" } } as never, response as never, () => undefined);
    response.emit("close");
    expect(measured).toEqual([{ method: "GET", route: "/tasks/{taskId}", status, durationMs: expect.any(Number) }]);
  },
);
