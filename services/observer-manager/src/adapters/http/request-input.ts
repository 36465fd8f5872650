import { findJsonFlaws, ObserverId, ObserverName, toPointer } from "@unacked/contracts";
import type { Request } from "express";
import type { z } from "zod";
import type { ObserverRef } from "../../flows/manager-api.ts";
import { bodyProblems, queryProblems } from "./field-problems.ts";
import { HttpProblem } from "./http-problem.ts";
import type { Route } from "./route.ts";

/** Everything that a route takes from outside, checked. Throws HttpProblem. */
export function readInput(route: Route, request: Request): { ref: ObserverRef; query: unknown; body: unknown } {
  return {
    ref: refOf(request.params["ref"]),
    query: readQuery(route.query, request),
    body: route.body === undefined ? undefined : readBody(route.body, request.body),
  };
}

/** A route without a query takes none: a misspelt filter must not be taken for "no filter". */
function readQuery(schema: z.ZodObject | undefined, request: Request): unknown {
  const query: unknown = { ...request.query }; // express makes it without a prototype
  if (schema === undefined) {
    const [name] = Object.keys(request.query);
    if (name === undefined) return {};
    throw new HttpProblem({ code: "invalid-query", errors: [{ parameter: name, message: "not known here" }] });
  }
  const parsed = schema.safeParse(query);
  if (!parsed.success) throw new HttpProblem({ code: "invalid-query", errors: queryProblems(parsed.error.issues) });
  return parsed.data;
}

function readBody(schema: z.ZodType, body: unknown): unknown {
  if (body === undefined) throw new HttpProblem({ code: "malformed-json", detail: "The body is empty" });
  const flaws = findJsonFlaws(body);
  if (flaws.length > 0) {
    throw new HttpProblem({
      code: "invalid-body",
      errors: flaws.map(({ path, message }) => ({ pointer: toPointer(path), message })),
    });
  }
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new HttpProblem({ code: "invalid-body", errors: bodyProblems(parsed.error.issues) });
  return parsed.data;
}

/** A text that can be neither a name nor an id names no observer. Routes without `{ref}` do not look at it. */
function refOf(text: unknown): ObserverRef {
  if (text === undefined) return { kind: "name", name: "" };
  const id = ObserverId.safeParse(text);
  if (id.success) return { kind: "id", id: id.data };
  const name = ObserverName.safeParse(text);
  if (name.success) return { kind: "name", name: name.data };
  throw new HttpProblem({ code: "observer-not-found" });
}
