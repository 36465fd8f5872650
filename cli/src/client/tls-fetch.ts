import { readFileSync } from "node:fs";
import { usageFailure } from "../failure.ts";

/** Files (PEM) for a manager whose TLS needs more than what Node knows by itself. */
export interface TlsFiles {
  /** The authority that signed the manager's certificate. It replaces those that Node knows. */
  certificateAuthority?: string | undefined;
  /** Our own certificate and key, for a manager that requires one (TLS_CLIENT_CA_FILE). */
  clientCertificate?: string | undefined;
  clientKey?: string | undefined;
}

/** Throws a CliFailure when a certificate lacks its key, or a file cannot be read. */
export function tlsFetch(files: TlsFiles): typeof fetch {
  const { certificateAuthority, clientCertificate, clientKey } = files;
  if ((clientCertificate === undefined) !== (clientKey === undefined))
    throw usageFailure("A client certificate and its key go together", "Give --client-certificate and --client-key.");
  if (certificateAuthority === undefined && clientCertificate === undefined) return fetch;
  const connect = { ca: contentOf(certificateAuthority), cert: contentOf(clientCertificate), key: contentOf(clientKey) };
  // Only loaded where certificates are needed: Node's own fetch takes none.
  const loaded = import("undici").then((undici) => ({ undici, dispatcher: new undici.Agent({ connect }) }));
  return (async (url: string, init: object) => {
    const { undici, dispatcher } = await loaded;
    return undici.fetch(url, { ...init, dispatcher });
  }) as unknown as typeof fetch;
}

function contentOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw usageFailure(`${file} cannot be read: ${(error as Error).message}`);
  }
}
