import {
  type AnswerOf,
  type CallInput,
  type CallName,
  type MinimalCallName,
  type MinimalOf,
  type PagedCallName,
  placeOf,
  type QueryOf,
} from "@unacked/contracts";
import { CallError } from "../call-error.ts";

/** The parts of the client that tasks and flows need. */
export interface Calls {
  readonly url: string;
  readonly timeoutMs: number;
  call<Name extends CallName>(name: Name, input: CallInput<Name>, signal?: AbortSignal): Promise<AnswerOf<Name>>;
  /** Is answered only with receipts. */
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

/** How long a manager may be asked to wait, so that it answers well before the wire gives up. In ms. */
export const longestWaitMs = ({ timeoutMs }: Pick<Calls, "timeoutMs">): number => timeoutMs * 0.75;

type CreateName = "createTask" | "createTasks" | "createFlow";

/** A handler for `catch`: throws the error of a create with the ids that it was to create. */
export const failCreate =
  ({ url }: Calls, name: CreateName, ids: readonly string[], signal: AbortSignal | undefined) =>
  (error: unknown): never => {
    const { method, path } = placeOf(name);
    throw CallError.ofCreate(error, { ids, request: `${method} ${url}${path}`, signal });
  };
