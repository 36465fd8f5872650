import type { TlsFiles } from "@unacked/settings";
import { SSL_MODES, sslModeOf } from "./ssl-mode.ts";

/** Servers of one database, in the order given, of a text that separates them by commas. A comma in a password is written `%2C`. */
export const databaseUrls = (text: string): string[] => text.split(/,\s*(?=postgres(?:ql)?:\/\/)/).map((url) => url.trim());

/** What is wrong with such a text; undefined: nothing. Of one alone only its sslmode is looked at, as it may also be a socket's. */
export function flawOfDatabaseUrls(text: string, files: TlsFiles): string | undefined {
  const urls = databaseUrls(text);
  const modes = urls.map((url) => sslModeOf(url, files));
  if (modes.includes(undefined)) return `its sslmode must be one of ${SSL_MODES.join(", ")}`;
  if (urls.length === 1) return undefined;
  if (!urls.every(namesOneHost))
    return "must look like postgres://user:password@host:5432/database, or several of these with commas between, each whole";
  const kinds = new Set(urls.map((url, i) => `${modes[i]} ${new URL(url).pathname}`));
  return kinds.size > 1 ? "names primary and standbys of one database: all need the same database and sslmode" : undefined;
}

function namesOneHost(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { host } = new URL(url);
  return host !== "" && !host.includes(",");
}

/** As it may be said: without user and password. */
export const placeOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "the database");
