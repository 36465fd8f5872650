import { useEffect } from "react";
import type { CallError } from "../wire/call.ts";
import { useLive } from "./use-live.ts";

interface Read {
  data: unknown;
  /** When `data` came, by the browser's clock. */
  readAtMs: number;
  /** Why it could not be read again; null: it could. */
  failure: CallError | null;
}

/** Where what is shown could not be read again, the page says that it is old, for as long as `asker` shows it. */
export function useToldOld(asker: object, { data, readAtMs, failure }: Read): void {
  const { unread } = useLive();
  const isOld = data !== null && failure !== null && !isGone(failure);
  useEffect(() => {
    unread.note(asker, isOld ? { failure, readAtMs } : null);
    return () => unread.note(asker, null);
  }, [unread, asker, isOld, failure, readAtMs]);
}

/** What was there and is no more is told by the page that shows it. */
const isGone = ({ code }: CallError): boolean => code.endsWith("-not-found");
