import { z } from "zod";
import type { Role } from "./access.ts";

/**
 * Parts of answers that not everybody who may ask is shown, by their schema: a role below `from` gets the answer without
 * them, or with what `instead` makes of them.
 */
export const WITHHELD = z.registry<{ from: Role; instead?: (value: string) => string }>();

/** Where an error was thrown: it tells of a machine's files. */
export const Stack = z
  .string()
  .optional()
  .describe("where it was thrown, one position a line, the innermost first. For operators and admins")
  .register(WITHHELD, { from: "operator" });

/** JSON, whole or cut, in which the stacks of errors, and the excerpts from files that a service cannot use, are replaced. */
export const withoutStacks = (json: string): string =>
  json.replaceAll(/"(stack|excerpt)"\s*:\s*"(?:[^"\\]|\\[^])*(?:"|\\?$)/g, '"$1":"(for operators)"');
