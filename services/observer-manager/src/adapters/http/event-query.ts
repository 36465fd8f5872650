import type { Request } from "express";
import { z } from "zod";
import { queryProblems } from "./field-problems.ts";
import { HttpProblem } from "./http-problem.ts";

export const EventQuery = z.strictObject({
  lastEventId: z
    .string()
    .max(64)
    .optional()
    .describe("where to go on, for clients that cannot set the Last-Event-ID header"),
});

/** The place to go on from. The header wins: a browser that reconnects by itself sends the newer place there. */
export function readEventQuery(request: Request): string | undefined {
  const parsed = EventQuery.safeParse({ ...request.query });
  if (!parsed.success) throw new HttpProblem({ code: "invalid-query", errors: queryProblems(parsed.error.issues) });
  return request.get("last-event-id") || parsed.data.lastEventId || undefined;
}
