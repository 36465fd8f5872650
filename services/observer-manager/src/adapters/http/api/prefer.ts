/**
 * Whether a client asks only for receipts, by its `Prefer` header: a list of preferences, each of which may have parameters; the first
 * of a name counts. https://www.rfc-editor.org/rfc/rfc7240#section-2
 */
export function prefersMinimal(header: string | undefined): boolean {
  if (header === undefined) return false;
  const returns = header.split(",").flatMap((one) => RETURN.exec(one)?.[1] ?? []);
  return returns[0]?.toLowerCase() === "minimal";
}

const RETURN = /^\s*return\s*=\s*"?([a-z]+)"?\s*(?:;|$)/i;
