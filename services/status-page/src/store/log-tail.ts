import {
  type EmittedValue,
  isOver,
  type LogEntry,
  type LogLine,
  type LogRun,
  type NoLogsReason,
  type ObserverLogs,
  type ObserverStatus,
} from "@unacked/contracts";

/** More than this nobody scrolls through, and a page may stay open for weeks. */
export const MOST_LINES = 500;
export const MOST_VALUES = 5;

/** A line, or what happened between two lines. `key` is of this tail alone. */
export type TailItem = { key: number } & (
  | { kind: "line"; line: LogLine }
  /** What follows was said by this run. */
  | { kind: "run"; run: LogRun }
  | { kind: "omitted"; count: number }
);

/** asking: nothing came yet · telling: what it says comes as it says it · waiting: nothing can be had, and why · over: nothing more comes */
export type TailState =
  | { phase: "asking" | "telling" }
  | { phase: "waiting"; reason: NoLogsReason }
  | { phase: "over"; status: ObserverStatus };

/** The end of what an observer said, over its runs. */
export interface LogTail {
  state: TailState;
  /** Whose words came last. */
  run: LogRun | null;
  /** Of the last thing that this run said; 0: nothing yet. */
  lastSeq: number;
  /** Oldest first, at most MOST_LINES. */
  items: readonly TailItem[];
  /** Newest first, at most MOST_VALUES. */
  values: readonly { key: number; entry: EmittedValue }[];
  /** Of the next item. Grows with each that ever came. */
  nextKey: number;
}

export const NOTHING_SAID: LogTail = {
  state: { phase: "asking" },
  run: null,
  lastSeq: 0,
  items: [],
  values: [],
  nextKey: 1,
};

/** Their runs have ended, and nobody says anything more. */

/** Whether nothing more will come. */
export const saysNoMore = ({ status }: Pick<ObserverLogs, "status">): boolean => isOver(status);

/** Adds what was fetched again. Nothing that is there already is taken twice; where nothing is new, `before` itself comes back. */
export function withLogs(before: LogTail, logs: ObserverLogs): LogTail {
  const { run, entries, omitted, reason } = logs;
  const isOther = run !== null && run.id !== before.run?.id;
  const saidBefore = isOther ? 0 : before.lastSeq;
  const fresh = entries.filter(({ seq }) => seq > saidBefore);
  const hasNews = fresh.length > 0 || isOther || run?.isCurrent !== before.run?.isCurrent;
  const state = stateAfter(logs);
  if (!hasNews && isSame(state, before.state)) return before;
  const draft: Draft = { ...before, state, items: [...before.items], values: [...before.values] };
  if (isOther && before.run !== null) draft.items.push({ key: draft.nextKey++, kind: "run", run });
  // What was said before one came to look, nobody misses.
  const lost = omitted + entries.length - saidBefore - fresh.length;
  const isMissed = before.run !== null && reason === null && fresh.length > 0 && lost > 0;
  if (isMissed) draft.items.push({ key: draft.nextKey++, kind: "omitted", count: lost });
  for (const entry of fresh) take(draft, entry);
  return {
    ...draft,
    run: run ?? before.run,
    lastSeq: fresh.at(-1)?.seq ?? saidBefore,
    items: draft.items.slice(-MOST_LINES),
    values: draft.values.slice(0, MOST_VALUES),
  };
}

type Draft = Omit<LogTail, "items" | "values"> & { items: TailItem[]; values: LogTail["values"][number][] };

function take(draft: Draft, entry: LogEntry): void {
  const key = draft.nextKey++;
  if (entry.kind === "log") draft.items.push({ key, kind: "line", line: entry });
  else draft.values.unshift({ key, entry });
}

function stateAfter(logs: ObserverLogs): TailState {
  const { run, reason, status } = logs;
  if (saysNoMore(logs)) return { phase: "over", status };
  if (reason !== null) return { phase: "waiting", reason };
  // Its last lines are there, and the next run is awaited.
  return run === null || run.isCurrent ? { phase: "telling" } : { phase: "waiting", reason: "moving" };
}

function isSame(one: TailState, other: TailState): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
