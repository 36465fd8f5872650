import { useCallback, useLayoutEffect, useRef } from "react";

/** A function that is the same at every drawing and does what the latest one would: rows that are kept may hold it. */
export function useEvent<Args extends unknown[]>(handler: (...args: Args) => void): (...args: Args) => void {
  const latest = useRef(handler);
  useLayoutEffect(() => {
    latest.current = handler;
  });
  return useCallback((...args: Args) => latest.current(...args), []);
}
