import { useState } from "react";
import type { LogTail } from "../../store/log-tail.ts";

export interface Paused {
  /** The tail as it was when it was paused, or as it is. */
  shown: LogTail;
  isPaused: boolean;
  /** How much has come since. */
  more: number;
  toggle: () => void;
}

/** Holds still what moves, so that it can be read; meanwhile it goes on coming in. */
export function usePause(tail: LogTail): Paused {
  const [held, setHeld] = useState<LogTail | null>(null);
  return {
    shown: held ?? tail,
    isPaused: held !== null,
    more: held === null ? 0 : tail.nextKey - held.nextKey,
    toggle: () => setHeld(held === null ? tail : null),
  };
}
