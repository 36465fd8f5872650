import { RefusedByDatabase } from "../../../operations/books/books-store.ts";
import { sqlStateOf } from "../connection/database-error.ts";

/**
 * Whether the value is at fault, and is refused each time: class 22 data, 23 constraints, 21 cardinality, 54 a limit of PostgreSQL's (a value too
 * large, too deep). All else passes, or somebody mends it, and the same is tried again.
 */
export const isRefused = (error: unknown): boolean => /^(2[123]|54)/.test(sqlStateOf(error) ?? "");

/** The error itself, or a RefusedByDatabase with it as its cause. */
export function asRefused(error: unknown): unknown {
  if (!isRefused(error)) return error;
  return new RefusedByDatabase(`PostgreSQL refuses it (SQLSTATE ${sqlStateOf(error)})`, { cause: error });
}

/** For the `catch` of what writes. */
export function rethrowRefused(error: unknown): never {
  throw asRefused(error);
}
