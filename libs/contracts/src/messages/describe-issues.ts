import type { z } from "zod";
import { cut } from "../bounds.ts";

/** A JSON pointer (RFC 6901) for a schema issue's path. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** How many flaws are described, and how much of each one's place and text: a sender chooses the names in both. */
export const MAX_DESCRIBED = 10;
const MAX_POINTER = 300;
const MAX_MESSAGE = 1_000;

export const describeIssues = (issues: readonly z.core.$ZodIssue[]): string =>
  issues.slice(0, MAX_DESCRIBED).map(describeIssue).join("; ");

function describeIssue(issue: z.core.$ZodIssue): string {
  return `${cut(toPointer(issue.path), MAX_POINTER) || "/"}: ${cut(issue.message, MAX_MESSAGE)}`;
}
