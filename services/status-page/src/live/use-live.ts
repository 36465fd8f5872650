import { createContext, useContext, useSyncExternalStore } from "react";
import type { Live } from "./live.ts";
import type { Signal } from "./signal.ts";

export const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("useLive stands outside of LiveContext");
  return live;
}

/** Redraws whenever the signal tells. */
export function useSignal(signal: Signal): number {
  return useSyncExternalStore(signal.subscribe, signal.getVersion);
}
