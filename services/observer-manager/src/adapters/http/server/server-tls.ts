import type { RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { followFiles, SettingsError } from "@unacked/settings";
import type { Log } from "../../../operations/log.ts";

/** Files in PEM form. */
export interface ServerTls {
  certFile: string;
  keyFile: string;
  /** The authorities of clients' certificates. A client without a certificate of theirs is refused. */
  clientCaFile?: string | undefined;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;

/**
 * A server that speaks TLS (1.2 and later). A certificate that is renewed in its file is used for new connections; open ones
 * keep theirs. Throws SettingsError if the files cannot be read, or do not match.
 */
export function createTlsServer(
  options: ServerOptions,
  listener: RequestListener,
  { certFile, keyFile, clientCaFile }: ServerTls,
  log: Log,
): { server: Server; stopFollowing: () => void } {
  const clients = clientCaFile === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ...options, ...clients, handshakeTimeout: HANDSHAKE_TIMEOUT_MS }, listener);
  const paths = [certFile, keyFile, ...(clientCaFile === undefined ? [] : [clientCaFile])];
  const take = ([cert, key, ca]: Buffer[]) => {
    server.setSecureContext({ cert, key, minVersion: "TLSv1.2", ...(ca && { ca }) });
    log.info({ event: "certificate-read", path: certFile }, "the certificate was read");
  };
  const complain = (err: unknown) =>
    log.error({ event: "certificate-refused", err }, "the certificate could not be read; the previous one is still used");
  try {
    return { server, stopFollowing: followFiles({ paths, take, complain }) };
  } catch (error) {
    throw new SettingsError([`TLS_CERT_FILE, TLS_KEY_FILE: ${error instanceof Error ? error.message : String(error)}`]);
  }
}
