import { issueWords } from "@unacked/contracts";
import type { z } from "zod";

/** What is wrong in words. Of a key of a record the schema says no more than that it is wrong: what is wrong with it stands below. */
export const issueText = (issue: z.core.$ZodIssue): string =>
  issue.code === "invalid_key"
    ? `in the key: ${issue.issues.map(({ message }) => message).join(", ")}`
    : issueWords(issue.message);
