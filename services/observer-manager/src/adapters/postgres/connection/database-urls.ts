import type { TlsFiles } from "@unacked/settings";
import { SSL_MODES, sslModeOf } from "./ssl-mode.ts";

/** Splits a text at the commas between servers of one database, in the order given. A comma in a password is written `%2C`. */
export const databaseUrls = (text: string): string[] => text.split(/,\s*(?=postgres(?:ql)?:\/\/)/i).map((url) => url.trim());

/**
 * What is wrong with such a text; undefined: nothing. If it names one server only, its host is not checked, and it may also be a socket's
 * folder, as pg takes it.
 */
export function flawOfDatabaseUrls(text: string): string | undefined {
  const urls = databaseUrls(text);
  const [first = ""] = urls;
  const isWell = urls.length > 1 ? urls.every(namesOneHost) : IS_POSTGRES.test(first) || IS_SOCKET.test(first);
  if (!isWell) return MUST_LOOK_LIKE;
  return urls.some((url) => sslModeOf(url, {}) === undefined)
    ? `its sslmode must be one of ${SSL_MODES.join(", ")}`
    : undefined;
}

/** What is wrong with its servers together, given these files; undefined: nothing. */
export function flawOfServers(text: string, files: TlsFiles): string | undefined {
  const urls = databaseUrls(text);
  if (urls.length === 1) return undefined;
  const kinds = new Set(urls.map((url) => `${sslModeOf(url, files)} ${new URL(url).pathname}`));
  return kinds.size > 1 ? "names primary and standbys of one database: all need the same database and sslmode" : undefined;
}

const IS_POSTGRES = /^postgres(?:ql)?:\/\//i;
/** `socket:/run/postgresql?db=books`, or `/run/postgresql books`. */
const IS_SOCKET = /^(?:socket:|\/)/i;
const MUST_LOOK_LIKE =
  "must look like postgres://user:password@host:5432/database, or several of these with commas between, each whole";

function namesOneHost(url: string): boolean {
  if (!IS_POSTGRES.test(url) || !URL.canParse(url)) return false;
  const { host } = new URL(url);
  return host !== "" && !host.includes(",");
}

/** How an address may be shown: without user and password. */
export const placeOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "the database");
