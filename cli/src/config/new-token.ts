import { createHash, randomBytes } from "node:crypto";
import { usageFailure } from "../failure.ts";

/** Nobody guesses 256 random bits, so their plain hash gives nothing away. */
const TOKEN_BYTES = 32;

/** Makes a token, and the line by which a manager knows it (AUTH_TOKENS). The token's prefix lets scanners find a leaked one. */
export function newToken(name: string, role: string): { token: string; line: string } {
  if (!/^[A-Za-z0-9._:@-]{1,64}$/.test(name))
    throw usageFailure(`"${name}" cannot be a token's name`, "It may have A-Z a-z 0-9 . _ : @ -, at most 64 characters.");
  const token = `unacked_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  return { token, line: `${name} ${role} sha256:${createHash("sha256").update(token).digest("hex")}` };
}
