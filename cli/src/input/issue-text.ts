import { issueWords } from "@unacked/contracts";
import type { z } from "zod";

/** Puts an issue into words. For a record's key the schema says only that it is wrong; the reason is in the issues below it. */
export const issueText = (issue: z.core.$ZodIssue): string =>
  issue.code === "invalid_key"
    ? `in the key: ${issue.issues.map(({ message }) => message).join(", ")}`
    : issueWords(issue.message);
