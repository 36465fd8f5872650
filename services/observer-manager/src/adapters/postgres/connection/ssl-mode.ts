import { readFileSync } from "node:fs";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import type { TlsFiles } from "@unacked/settings";

/** PostgreSQL's own words (libpq's sslmode), but for those that fall back to plain text when encryption fails. */
export const SSL_MODES = ["disable", "require", "verify-ca", "verify-full"] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** The mode that an address asks for; with files given and none asked for, the strictest. `undefined`: it is none of them. */
export function sslModeOf(databaseUrl: string, files: TlsFiles): SslMode | undefined {
  const asked = URL.canParse(databaseUrl) ? new URL(databaseUrl).searchParams.get("sslmode") : null;
  if (asked !== null) return SSL_MODES.find((mode) => mode === asked);
  return Object.values(files).some((file) => file !== undefined) ? "verify-full" : "disable";
}

/** The TLS options that pg and TypeORM are given. */
export type DatabaseTls = Pick<ConnectionOptions, "ca" | "cert" | "key" | "rejectUnauthorized" | "checkServerIdentity">;

export interface DatabaseAddress {
  url: string;
  /** Without it the connection is not encrypted. */
  ssl?: false | DatabaseTls;
}

/**
 * Gives pg and TypeORM the address without what we read of it ourselves, and how it is encrypted. It reads the files, and
 * again at each connection: an authority that renews itself within a manager's life must not lock it out.
 */
export function sslOptions(databaseUrl: string, files: TlsFiles): DatabaseAddress {
  const mode = sslModeOf(databaseUrl, files) ?? "verify-full";
  if (mode === "disable" && !databaseUrl.includes("sslmode=")) return { url: databaseUrl, ssl: false };
  const url = new URL(databaseUrl);
  url.searchParams.delete("sslmode");
  return { url: url.href, ssl: mode === "disable" ? false : connectionOptions(mode, files) };
}

/** pg copies these for each connection that it opens, and so asks the getters each time. */
function connectionOptions(mode: Exclude<SslMode, "disable">, files: TlsFiles): DatabaseTls {
  const { caFile, certFile, keyFile, serverName } = files;
  const options: DatabaseTls = {
    rejectUnauthorized: mode !== "require",
    checkServerIdentity: (host, certificate) =>
      mode === "verify-full" ? checkServerIdentity(serverName ?? host, certificate) : undefined,
  };
  for (const [option, file] of Object.entries({ ca: caFile, cert: certFile, key: keyFile })) {
    if (file === undefined) continue;
    Object.defineProperty(options, option, { get: latestOf(file), enumerable: true, configurable: true });
  }
  return options;
}

/** What is in a file now, or was when it could last be read. Throws if it cannot be read at first. */
function latestOf(file: string): () => string {
  let content = readFileSync(file, "utf8");
  return () => {
    try {
      content = readFileSync(file, "utf8");
    } catch {
      // It is just being replaced, or gone for good: pg would end the process, and what we had may well be right still.
    }
    return content;
  };
}
