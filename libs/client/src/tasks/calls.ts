import type { AnswerOf, CallInput, CallName, MinimalCallName, MinimalOf, PagedCallName, QueryOf } from "@unacked/contracts";

/** What is asked of the client that these belong to. */
export interface Calls {
  readonly timeoutMs: number;
  call<Name extends CallName>(name: Name, input: CallInput<Name>, signal?: AbortSignal): Promise<AnswerOf<Name>>;
  /** Answered with receipts alone. */
  callMinimal<Name extends MinimalCallName>(
    name: Name,
    input: CallInput<Name>,
    signal?: AbortSignal,
  ): Promise<MinimalOf<Name>>;
  pages<Name extends PagedCallName>(
    name: Name,
    query: Omit<QueryOf<Name>, "limit" | "cursor">,
    options: { limit?: number | undefined; signal?: AbortSignal | undefined },
  ): AsyncGenerator<AnswerOf<Name>>;
}

/** A manager that is asked to wait is to answer well before the wire gives it up. In ms. */
export const longestWaitMs = ({ timeoutMs }: Pick<Calls, "timeoutMs">): number => Math.max(1_000, timeoutMs * 0.75);
