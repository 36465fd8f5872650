import type { AnswerOf, CallInput, CallName } from "@unacked/contracts";
import { useCallback, useEffect, useState } from "react";
import { CallError, call } from "../wire/call.ts";
import { Question } from "./question.ts";
import { useLive, useSignal } from "./use-live.ts";
import { useToldOld } from "./use-told-old.ts";

export interface Answered<T> {
  /** What came last; kept when a later call fails. */
  data: T | null;
  failure: CallError | null;
  reload(): void;
  /** What `data` answers, as a key. */
  question: string | null;
  /** `data` is another page of the same list, or less of it: what is asked for is on its way, or is asked for again. */
  isTurning: boolean;
}

/** What has failed is asked again so long afterwards, or as much later as the manager wants. */
export const againInMs = (failure: CallError | null): number => Math.max(2_000, (failure?.retryAfterS ?? 0) * 1_000);

const NOTHING = { data: null, readAtMs: 0, failure: null };

/**
 * A call, once, and again when its input or `version` change or the lost manager is back; one at a time. Null asks for nothing. An
 * answer to an older question is dropped. While calls for the same go on, what came before stays: nothing flickers. So it does while
 * another page of the same list, or more of it, is on its way: nobody loses their place. What failed and may pass is asked again, as no
 * change need come for long, and what came before would be taken for the present: until then the page says that it is old.
 */
export function useAnswer<Name extends CallName>(
  name: Name,
  input: CallInput<Name> | null,
  version: unknown = 0,
): Answered<AnswerOf<Name>> {
  const question = input === null ? null : JSON.stringify([name, input]);
  const [state, setState] = useState<{
    question: string | null;
    data: AnswerOf<Name> | null;
    /** When `data` came, by the browser's clock. */
    readAtMs: number;
    failure: CallError | null;
  }>({ ...NOTHING, question });
  const [asked, setAsked] = useState(0);
  const reload = useCallback(() => setAsked((count) => count + 1), []);
  const [asking] = useState(() => new Question());
  const live = useLive();
  useSignal(live.linkChanged);
  const { returns } = live;
  useEffect(() => {
    let again: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    // What was asked before the link broke may never be answered.
    const text = question === null ? null : `${returns} ${question}`;
    asking.ask(text, (signal) => {
      const settle = (data: AnswerOf<Name> | null, failure: CallError | null) => {
        if (signal.aborted) return;
        if (data !== null) return setState({ question, data, readAtMs: Date.now(), failure });
        setState((before) => {
          const isSame =
            before.question === question || (before.data !== null && listOf(before.question) === listOf(question));
          return isSame ? { ...before, failure } : { ...NOTHING, question, failure };
        });
      };
      const [which, given] = JSON.parse(question ?? "") as [Name, CallInput<Name>];
      return call(which, given, signal).then(
        (data) => settle(data, null),
        (error: unknown) => {
          const failure = error instanceof CallError ? error : null;
          settle(null, failure);
          if (failure?.isPassing && !isLeft) again = setTimeout(reload, againInMs(failure));
        },
      );
    });
    return () => {
      isLeft = true;
      clearTimeout(again);
    };
  }, [asking, question, version, asked, returns, reload]);
  const isCurrent = listOf(state.question) === listOf(question);
  const { data, failure } = isCurrent ? state : NOTHING;
  const isAwaited = failure === null || failure.isPassing;
  const isTurning = data !== null && state.question !== question && isAwaited;
  useToldOld(asking, { data, failure, readAtMs: state.readAtMs });
  return { data, failure, reload, question: state.question, isTurning };
}

/** A question without what says which part of a list it is about, and how much of it. */
function listOf(question: string | null): string | null {
  if (question === null) return null;
  const [name, { query, ...rest }] = JSON.parse(question) as [string, { query?: object }];
  return JSON.stringify([name, rest, { ...query, limit: undefined, cursor: undefined }]);
}
