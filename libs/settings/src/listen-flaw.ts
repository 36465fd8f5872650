/**
 * Why nobody can listen at the address that HOST and PORT name, and what would be right.
 *
 * @param error as `server.listen` rejects
 * @returns undefined: it is another error
 */
export function listenFlaw(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { syscall, code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (syscall !== "listen") return undefined;
  const host = address?.includes(":") === true ? `[${address}]` : (address ?? "the address");
  const at = port === undefined ? host : `${host}:${port}`;
  switch (code) {
    case "EADDRINUSE":
      return `another program listens at ${at} already (EADDRINUSE): set PORT to another one, or to 0 for any that is free`;
    case "EACCES":
      return `this user may not listen at ${at} (EACCES): set PORT to one above 1023`;
    case "EADDRNOTAVAIL":
      return `${at} is not an address of this machine (EADDRNOTAVAIL): set HOST to one that it has, or to 0.0.0.0 for all`;
    default:
      return error.message;
  }
}
