import { createHash, randomBytes } from "node:crypto";
import { usageFailure } from "../failure.ts";

/** Nobody guesses 256 random bits, so their plain hash gives nothing away. */
const TOKEN_BYTES = 32;

/**
 * Makes a token, and the line by which a manager knows it (AUTH_TOKENS). The token's prefix lets scanners find a leaked one. Of what a
 * taker's `types` and `pools` do not name it may take nothing; where they name none, of each.
 */
export function newToken(
  name: string,
  role: string,
  { types = [], pools = [] }: { types?: readonly string[] | undefined; pools?: readonly string[] | undefined } = {},
): { token: string; line: string } {
  if (!/^[A-Za-z0-9._:@-]{1,64}$/.test(name))
    throw usageFailure(`"${name}" cannot be a token's name`, "It may have A-Z a-z 0-9 . _ : @ -, at most 64 characters.");
  const token = `unacked_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  const hash = `sha256:${createHash("sha256").update(token).digest("hex")}`;
  const share = [...types.map((type) => `type:${type}`), ...pools.map((pool) => `pool:${pool}`)];
  return { token, line: [name, role, hash, ...share].join(" ") };
}
