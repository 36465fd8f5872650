import { useEffect, useState } from "react";
import { type LogTail, NOTHING_SAID, saysNoMore, withLogs } from "../store/log-tail.ts";
import type { CallError } from "../wire/call.ts";
import { followLogs } from "../wire/log-source.ts";

export interface FollowedTail {
  tail: LogTail;
  /** Why it could not be read last; null: it could. */
  failure: CallError | null;
}

/**
 * What an observer says, for as long as somebody looks.
 * @param life changes when a run that was over lives again: then it is followed again, and what was said stays
 */
export function useLogTail(id: string, life: unknown): FollowedTail {
  const [tail, setTail] = useState(NOTHING_SAID);
  const [failure, setFailure] = useState<CallError | null>(null);
  useEffect(() => {
    return followLogs(id, {
      read(logs) {
        setFailure(null);
        setTail((before) => withLogs(before, logs));
        return !saysNoMore(logs);
      },
      failed: setFailure,
    });
  }, [id, life]);
  return { tail, failure };
}
