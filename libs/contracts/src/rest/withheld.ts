import { z } from "zod";
import type { Role } from "./access.ts";

/**
 * Parts of answers that not every permitted caller sees, by their schema: a role below `from` gets the answer without them,
 * or with what `instead` makes of them.
 */
export const WITHHELD = z.registry<{ from: Role; instead?: (value: string) => string }>();

/** Where an error was thrown. It reveals a machine's files. */
export const Stack = z
  .string()
  .optional()
  .describe("where it was thrown, one position a line, the innermost first. For operators and admins")
  .register(WITHHELD, { from: "operator" });

/** The JSON, whole or cut, with the stacks of errors, and the excerpts from unusable files, replaced. */
export const withoutStacks = (json: string): string =>
  json.replaceAll(/"(stack|excerpt)"\s*:\s*"(?:[^"\\]|\\[^])*(?:"|\\?$)/g, '"$1":"(for operators)"');
