import { SettingsError } from "@unacked/settings";
import type { CallerCheck, Verdict } from "../../domain/access/identity.ts";
import type { Log } from "../../operations/log.ts";
import { OidcCheck, type OidcSettings } from "./oidc-check.ts";
import { TokenBook } from "./token-book.ts";

export interface KnownCallersSettings {
  /** The list of tokens itself; `tokensFile` names a file that holds one. */
  tokens?: string | undefined;
  tokensFile?: string | undefined;
  oidc?: OidcSettings | undefined;
  /** How often the file is looked at. Default 5 s. */
  everyMs?: number;
}

/** Header, payload and signature of a JWT in its compact form (RFC 7519). */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

const NOT_KNOWN: Verdict = { kind: "refused", why: "The token is not known" };

/** Decides who may come in: bearers of listed tokens, and those whom the identity provider vouches for. */
export class KnownCallers implements CallerCheck {
  readonly #book: TokenBook | undefined;
  readonly #oidc: OidcCheck | undefined;

  /** Throws SettingsError if the list is wrong, cannot be read, or holds no token although there is no other way in. */
  constructor({ tokens, tokensFile, oidc, everyMs }: KnownCallersSettings, log: Log) {
    const mayBeMissing = oidc !== undefined;
    if (tokensFile !== undefined) this.#book = TokenBook.following(tokensFile, log, { mayBeMissing, everyMs });
    else if (tokens !== undefined) this.#book = TokenBook.of(tokens);
    this.#oidc = oidc && new OidcCheck(oidc, log);
    if (this.#book?.isEmpty)
      this.#mindNone(tokensFile === undefined ? "AUTH_TOKENS" : `AUTH_TOKENS_FILE: ${tokensFile}`, log);
  }

  /** At start an empty list is a mistake if there is no other way in. Later it is the way to shut everybody out. */
  #mindNone(source: string, log: Log): void {
    if (this.#oidc !== undefined)
      return log.warn(
        { event: "no-tokens", source },
        "no token is listed: the identity provider alone says who may come in",
      );
    this.close();
    throw new SettingsError([`${source}: holds no token`]);
  }

  get isConfigured(): boolean {
    return this.#book !== undefined || this.#oidc !== undefined;
  }

  async identify(token: string): Promise<Verdict> {
    const identity = this.#book?.find(token);
    if (identity) return { kind: "known", identity };
    return this.#oidc && JWT.test(token) ? this.#oidc.verify(token) : NOT_KNOWN;
  }

  close(): void {
    this.#book?.close();
  }
}
