import type { LogEvent } from "@unacked/contracts";
import { useEffect, useState } from "react";
import { type LogTail, NOTHING_SAID, withEvents } from "../store/log-tail.ts";
import type { CallError } from "../wire/call.ts";
import { followLogs } from "../wire/log-source.ts";
import { oncePerFrame } from "./next-frame.ts";

export interface FollowedTail {
  tail: LogTail;
  /** The stream broke off; `failure`: what the manager says to that, if it says anything. Null: it goes on. */
  broken: { failure: CallError | null } | null;
}

/**
 * What an observer says, for as long as somebody looks; drawn once a frame, however much it says.
 * @param life whatever changes when one that was over lives again: then it is followed anew, and what was said stays
 */
export function useLogTail(id: string, life: unknown): FollowedTail {
  const [tail, setTail] = useState(NOTHING_SAID);
  const [broken, setBroken] = useState<FollowedTail["broken"]>(null);
  useEffect(() => {
    let waiting: LogEvent[] = [];
    const draw = oncePerFrame(() => {
      const events = waiting;
      waiting = [];
      setTail((before) => withEvents(before, events));
    });
    return followLogs(id, {
      event: (event) => {
        waiting.push(event);
        draw();
      },
      opened: () => setBroken(null),
      broken: (failure) => setBroken({ failure }),
    });
  }, [id, life]);
  return { tail, broken };
}
