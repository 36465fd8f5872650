/**
 * The path below which the manager serves this page, as `/unacked`; "": at the root. Each of our scripts, the worker too, lies in
 * `assets` right below it, so its own address says it.
 */
export const BASE_PATH = basePathOf(import.meta.url);

/** @param script its address; one that lies elsewhere (in a unit test) says nothing */
export function basePathOf(script: string): string {
  return /^(?<base>.*)\/assets\/[^/]+$/.exec(new URL(script).pathname)?.groups?.["base"] ?? "";
}
