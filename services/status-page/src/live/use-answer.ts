import type { AnswerOf, CallInput, CallName } from "@unacked/contracts";
import { useCallback, useEffect, useState } from "react";
import { CallError, call } from "../wire/call.ts";
import { Question } from "./question.ts";
import { useLive, useSignal } from "./use-live.ts";

export interface Answered<T> {
  /** What came last; kept when a later call fails. */
  data: T | null;
  failure: CallError | null;
  reload(): void;
}

const AGAIN_MS = 2_000;
const NOTHING = { data: null, readAtMs: 0, failure: null };

/**
 * A call, once, and again when its input or `version` change or the lost manager is back; one at a time. Null asks for nothing. An
 * answer to an older question is dropped. While calls for the same go on, what came before stays: nothing flickers. What failed and may
 * pass is asked again, as no change need come for long, and what came before would be taken for the present: until then the page says that it is old.
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
  const { returns, unread } = live;
  useEffect(() => {
    let again: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    // What was asked before the link broke may never be answered.
    const text = question === null ? null : `${returns} ${question}`;
    asking.ask(text, (signal) => {
      const settle = (data: AnswerOf<Name> | null, failure: CallError | null) => {
        if (signal.aborted) return;
        if (data !== null) return setState({ question, data, readAtMs: Date.now(), failure });
        setState((before) => (before.question === question ? { ...before, failure } : { ...NOTHING, question, failure }));
      };
      const [which, given] = JSON.parse(question ?? "") as [Name, CallInput<Name>];
      return call(which, given, signal).then(
        (data) => settle(data, null),
        (error: unknown) => {
          const failure = error instanceof CallError ? error : null;
          settle(null, failure);
          if (failure?.isPassing && !isLeft)
            again = setTimeout(reload, Math.max(AGAIN_MS, (failure.retryAfterS ?? 0) * 1_000));
        },
      );
    });
    return () => {
      isLeft = true;
      clearTimeout(again);
    };
  }, [asking, question, version, asked, returns, reload]);
  const isCurrent = state.question === question;
  const { readAtMs, failure } = state;
  const isOld = isCurrent && state.data !== null && failure !== null && !isGone(failure);
  useEffect(() => {
    unread.note(asking, isOld ? { failure, readAtMs } : null);
    return () => unread.note(asking, null);
  }, [unread, asking, isOld, failure, readAtMs]);
  return { data: isCurrent ? state.data : null, failure: isCurrent ? state.failure : null, reload };
}

/** What was there and is no more is told by the page that shows it. */
const isGone = ({ code }: CallError): boolean => code.endsWith("-not-found");
