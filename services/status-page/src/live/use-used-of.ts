import type { ServiceView } from "@unacked/contracts";
import { useLive, useSignal } from "./use-live.ts";

/** How many workers of a service are in use. Its event does not follow every start; the list of observers does. */
export function useUsedOf(): (service: ServiceView) => number {
  const { observers } = useLive();
  useSignal(observers.changed);
  return ({ id, running }) => (observers.loading.phase === "whole" ? observers.index.runningOn(id) : running);
}
