import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { onTestFinished } from "vitest";

export interface TokenOptions {
  claims?: JWTPayload;
  issuer?: string;
  audience?: string | string[];
  /** Seconds from now; null: no expiry. */
  expiresInS?: number | null;
  notBeforeInS?: number;
  /** Which of its keys signs; the newest otherwise. */
  kid?: string;
}

/** An identity provider with a real JWKS endpoint and keys made on the spot. */
export interface IdentityProvider {
  issuer: string;
  jwksUrl: string;
  /** How often its keys were asked for. */
  asked(): number;
  /** Makes a key. Published unless `isSecret`. */
  addKey(kid: string, options?: { alg?: string; isSecret?: boolean }): Promise<void>;
  /** No longer published. */
  withdrawKey(kid: string): void;
  sign(options?: TokenOptions): Promise<string>;
  /** What the endpoint answers from now on instead of its keys. */
  answerWith(status: number, body?: string): void;
  /** From now on it takes requests and never answers. */
  hang(): void;
  close(): Promise<void>;
}

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const published = new Map<string, object>();
  const keys = new Map<string, { alg: string; privateKey: CryptoKey }>();
  let asked = 0;
  let instead: { status: number; body: string } | undefined;
  let hangs = false;
  const server = createServer((_request, response) => {
    asked += 1;
    if (hangs) return;
    const { status, body } = instead ?? { status: 200, body: JSON.stringify({ keys: [...published.values()] }) };
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);

  const provider: IdentityProvider = {
    issuer,
    jwksUrl: `${issuer}/keys`,
    asked: () => asked,
    async addKey(kid, { alg = "ES256", isSecret = false } = {}) {
      const { publicKey, privateKey } = await generateKeyPair(alg);
      keys.set(kid, { alg, privateKey });
      if (!isSecret) published.set(kid, { ...(await exportJWK(publicKey)), kid, alg, use: "sig" });
    },
    withdrawKey: (kid) => void published.delete(kid),
    async sign({ claims = {}, audience = "unacked", expiresInS = 300, notBeforeInS, kid, ...rest } = {}) {
      const chosen = kid ?? [...keys.keys()].at(-1) ?? "";
      const key = keys.get(chosen);
      if (key === undefined) throw new Error(`there is no key ${chosen}`);
      const nowS = Math.floor(Date.now() / 1_000);
      const token = new SignJWT({ sub: "alice", roles: ["viewer"], ...claims })
        .setProtectedHeader({ alg: key.alg, kid: chosen })
        .setIssuer(rest.issuer ?? issuer)
        .setAudience(audience);
      if (expiresInS !== null) token.setExpirationTime(nowS + expiresInS);
      if (notBeforeInS !== undefined) token.setNotBefore(nowS + notBeforeInS);
      return token.sign(key.privateKey);
    },
    answerWith: (status, body = "") => void (instead = { status, body }),
    hang: () => void (hangs = true),
    close,
  };
  await provider.addKey("first");
  return provider;
}
