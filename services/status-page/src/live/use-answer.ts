import { useCallback, useEffect, useRef, useState } from "react";
import { CallError, call } from "../wire/call.ts";
import { useLive, useSignal } from "./use-live.ts";

export interface Answered<T> {
  /** What came last; kept when a later call fails. */
  data: T | null;
  failure: CallError | null;
  reload(): void;
}

/**
 * `GET path`, once, and again when `path` or `version` change or the lost manager is back. Null asks for nothing. An answer to
 * an older question is dropped. While calls for the same path go on, what came before stays: nothing flickers.
 */
export function useAnswer<T>(path: string | null, version: unknown = 0): Answered<T> {
  const [state, setState] = useState<{ path: string | null; data: T | null; failure: CallError | null }>({
    path,
    data: null,
    failure: null,
  });
  const [asked, setAsked] = useState(0);
  const reload = useCallback(() => setAsked((count) => count + 1), []);
  const latest = useRef(0);
  const live = useLive();
  useSignal(live.linkChanged);
  const { returns } = live;
  useEffect(() => {
    const mine = ++latest.current;
    if (path === null) return;
    const settle = (data: T | null, failure: CallError | null) => {
      if (mine !== latest.current) return;
      setState((before) => ({ path, data: data ?? (before.path === path ? before.data : null), failure }));
    };
    call<T>("GET", path).then(
      (data) => settle(data, null),
      (error: unknown) => settle(null, error instanceof CallError ? error : null),
    );
  }, [path, version, asked, returns]);
  const isCurrent = state.path === path;
  return { data: isCurrent ? state.data : null, failure: isCurrent ? state.failure : null, reload };
}
