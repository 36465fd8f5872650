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

/** What pg and TypeORM are given. */
export type DatabaseTls = Pick<ConnectionOptions, "ca" | "cert" | "key" | "rejectUnauthorized" | "checkServerIdentity">;

export interface DatabaseAddress {
  url: string;
  /** Not encrypted if left out. */
  ssl?: false | DatabaseTls;
}

/** For pg and TypeORM: the address without what we read of it ourselves, and how it is encrypted. Reads the files. */
export function sslOptions(databaseUrl: string, files: TlsFiles): DatabaseAddress {
  const mode = sslModeOf(databaseUrl, files) ?? "verify-full";
  if (mode === "disable" && !databaseUrl.includes("sslmode=")) return { url: databaseUrl, ssl: false };
  const url = new URL(databaseUrl);
  url.searchParams.delete("sslmode");
  return { url: url.href, ssl: mode === "disable" ? false : connectionOptions(mode, files) };
}

function connectionOptions(mode: Exclude<SslMode, "disable">, files: TlsFiles): DatabaseTls {
  const { caFile, certFile, keyFile, serverName } = files;
  const content = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file, "utf8"));
  return {
    ...(caFile !== undefined && { ca: content(caFile) }),
    ...(certFile !== undefined && { cert: content(certFile), key: content(keyFile) }),
    rejectUnauthorized: mode !== "require",
    checkServerIdentity: (host, certificate) =>
      mode === "verify-full" ? checkServerIdentity(serverName ?? host, certificate) : undefined,
  };
}
