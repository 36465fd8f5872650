import type { QueryOf, TimerStatusName } from "@unacked/contracts";
import { TIMER_SHOWN } from "./timer-looks.ts";

/** What the list of timers is narrowed to; it stands in the page's address. */
export interface TimerFilter {
  status: TimerStatusName | "";
  /** How their names begin. */
  prefix: string;
}

export function timerFilterOf(search: string): TimerFilter {
  const given = new URLSearchParams(search);
  const status = TIMER_SHOWN.find((one) => one === given.get("status")) ?? "";
  return { status, prefix: given.get("prefix")?.trim() ?? "" };
}

export function addressOfTimers(filter: TimerFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return given.length === 0 ? "/timers" : `/timers?${new URLSearchParams(given)}`;
}

export const isNarrowed = ({ status, prefix }: TimerFilter): boolean => status !== "" || prefix !== "";

export const queryOf = ({ status, prefix }: TimerFilter): QueryOf<"listTimers"> => ({
  ...(status !== "" && { status: [status] }),
  ...(prefix !== "" && { prefix }),
});
