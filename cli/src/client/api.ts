import { CallError, Client, contractDecoder, type Lost, Wire, type WireOptions } from "@unacked/client";
import type {
  AnswerOf,
  CallInput,
  CallName,
  ChangeEvent,
  ItemOf,
  LogEvent,
  PagedCallName,
  QueryOf,
} from "@unacked/contracts";
import { aboutOf } from "./about.ts";
import { failureOf } from "./call-failure.ts";
import { tellOtherKind } from "./other-kind.ts";
import { type TlsFiles, tlsFetch } from "./tls-fetch.ts";
import { refuseNoToken } from "./token-flaw.ts";

export interface Address extends Pick<WireOptions, "url" | "token"> {
  /** Without it, Node's own certificate authorities count. */
  tls?: TlsFiles | undefined;
}

interface CallOptions {
  /** What a refusal is about, if the path does not say it as it was typed. */
  about?: string;
  signal?: AbortSignal | undefined;
}

/** The values of a query as they were typed. The manager says what is wrong with them. */
type TypedQuery<Name extends CallName> = { [Key in keyof QueryOf<Name>]: QueryOf<Name>[Key] | string };

/**
 * The REST API for commands, made from the contracts' table of calls. Fails with a CliFailure: refused, unreachable, or an answer of
 * another shape.
 */
export class UnackedApi {
  readonly #client: Client;

  constructor({ url, token, tls = {} }: Address, { timeoutMs }: { timeoutMs: number }) {
    refuseNoToken(token);
    // No retries: the person who typed the command sees at once that it failed, and decides.
    const wire = new Wire({ url, token, timeoutMs, fetch: tlsFetch(tls) });
    this.#client = new Client({ wire, decoder: contractDecoder, retries: 0 });
  }

  get url(): string {
    return this.#client.url;
  }

  /** How long one answer may take. */
  get timeoutMs(): number {
    return this.#client.timeoutMs;
  }

  /** Makes one call, by its operationId. */
  async call<Name extends CallName>(
    name: Name,
    input: CallInput<Name>,
    { about = aboutOf(input.path), signal }: CallOptions = {},
  ): Promise<AnswerOf<Name>> {
    return this.#client.call(name, input, signal).catch(async (error: unknown) => {
      const { ref } = (input.path ?? {}) as { ref?: string };
      throw await this.#failure(error, about, ref);
    });
  }

  /**
   * Reads page by page, so that a list of any length costs no more memory than a page. `limit` counts the rows of all pages
   * together.
   */
  async *pages<Name extends PagedCallName>(
    name: Name,
    query: Omit<TypedQuery<Name>, "limit" | "cursor">,
    limit?: number,
  ): AsyncGenerator<ItemOf<Name>[]> {
    for await (const page of this.#told(this.#client.pages(name, query as QueryOf<Name>, { limit })))
      yield (page as { items: ItemOf<Name>[] }).items;
  }

  changes(signal: AbortSignal): AsyncGenerator<ChangeEvent | Lost> {
    return this.#told(this.#client.changes(signal));
  }

  followLogs(ref: string, limit: number, signal: AbortSignal): AsyncGenerator<LogEvent | Lost> {
    return this.#told(this.#client.logs(ref, { limit }, signal), ref);
  }

  async *#told<News>(news: AsyncGenerator<News>, ref?: string): AsyncGenerator<News> {
    const about = ref === undefined ? undefined : aboutOf({ ref });
    try {
      for await (const one of news) yield this.#isLost(one) ? { ...one, why: this.#whyLost(one, about) } : one;
    } catch (error) {
      throw await this.#failure(error, about, ref);
    }
  }

  #isLost<News>(news: News): news is News & Lost {
    return (news as Partial<Lost>).name === "lost";
  }

  #whyLost({ why, cause }: Lost, about: string | undefined): string {
    return cause instanceof CallError ? failureOf(cause, this.url, about).message : why;
  }

  async #failure(error: unknown, about: string | undefined, ref: string | undefined): Promise<unknown> {
    if (!(error instanceof CallError)) return error;
    const failure = failureOf(error, this.url, about);
    return ref === undefined ? failure : tellOtherKind(this, failure, ref);
  }
}
