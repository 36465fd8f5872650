import { createHash, timingSafeEqual } from "node:crypto";
import { followFiles, SettingsError } from "@unacked/settings";
import type { Identity } from "../../domain/access/identity.ts";
import { type ListedToken, parseTokenList } from "../../domain/access/token-list.ts";
import type { Log } from "../../operations/log.ts";

interface Entry extends ListedToken {
  digest: Buffer;
}

/**
 * The bearer tokens that are accepted, known only by their SHA-256. A plain, fast hash is enough, as tokens are 256 random bits:
 * there is nothing to guess, with or without the list. (A slow hash protects passwords, and would cost each request.)
 */
export class TokenBook {
  #entries: Entry[] = [];
  #stop: () => void = () => undefined;

  /** Reads the tokens from a setting's value. Throws SettingsError. */
  static of(text: string): TokenBook {
    const book = new TokenBook();
    book.#take(text, "AUTH_TOKENS");
    return book;
  }

  /**
   * Reads the tokens from a file, and again when it changes. Throws SettingsError if it cannot be read now, unless it
   * `mayBeMissing`.
   */
  static following(
    path: string,
    log: Log,
    { mayBeMissing, everyMs }: { mayBeMissing: boolean; everyMs?: number | undefined },
  ) {
    const book = new TokenBook();
    const take = ([content]: Buffer[]) => {
      book.#take(String(content), `AUTH_TOKENS_FILE: ${path}`);
      log.info({ event: "tokens-read", path, tokens: book.#entries.length }, "the tokens were read");
    };
    const complain = (err: unknown) =>
      log.error({ event: "tokens-refused", err }, "the tokens could not be read; the previous ones are still accepted");
    try {
      book.#stop = followFiles({ paths: [path], take, complain, everyMs, mayBeMissing });
    } catch (error) {
      if (error instanceof SettingsError) throw error;
      throw new SettingsError([`AUTH_TOKENS_FILE: ${error instanceof Error ? error.message : String(error)}`]);
    }
    return book;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Takes constant time, which reveals neither how much of the token was right nor which one it was. */
  find(token: string): Identity | undefined {
    const digest = createHash("sha256").update(token, "utf8").digest();
    let found: Entry | undefined;
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
    if (found === undefined) return undefined;
    const { name, role, share } = found;
    return { name, role, authentication: "token", expiresAtMs: null, share };
  }

  close(): void {
    this.#stop();
  }

  #take(text: string, source: string): void {
    const { tokens, problems } = parseTokenList(text);
    if (problems.length > 0) throw new SettingsError(problems.map((problem) => `${source}, ${problem}`));
    this.#entries = tokens.map((token) => ({ ...token, digest: Buffer.from(token.sha256, "hex") }));
  }
}
