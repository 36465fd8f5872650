import type { EmittedValue, LogEvent, LogLine, LogRun, NoLogsReason, ObserverStatus } from "@unacked/contracts";

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

/** What came in, in order. What is there already (a stream that was opened anew begins at the beginning) is passed over. */
export function withEvents(before: LogTail, events: readonly LogEvent[]): LogTail {
  const tail = { ...before, items: [...before.items], values: [...before.values] };
  for (const event of events) take(tail, event);
  tail.items = tail.items.slice(-MOST_LINES);
  tail.values = tail.values.slice(0, MOST_VALUES);
  return tail;
}

type Draft = Omit<LogTail, "items" | "values"> & { items: TailItem[]; values: LogTail["values"][number][] };

function take(tail: Draft, event: LogEvent): void {
  switch (event.name) {
    case "run":
      return takeRun(tail, event.data);
    case "entry": {
      const { data } = event;
      if (data.seq <= tail.lastSeq) return;
      tail.lastSeq = data.seq;
      tail.state = { phase: "telling" };
      const key = tail.nextKey++;
      if (data.kind === "log") tail.items.push({ key, kind: "line", line: data });
      else tail.values.unshift({ key, entry: data });
      return;
    }
    case "omitted":
      tail.items.push({ key: tail.nextKey++, kind: "omitted", count: event.data.count });
      return;
    case "waiting":
      tail.state = { phase: "waiting", reason: event.data.reason };
      return;
    case "end":
      tail.state = { phase: "over", status: event.data.status };
      return;
    default:
      event satisfies never;
  }
}

function takeRun(tail: Draft, run: LogRun): void {
  tail.state = { phase: "telling" };
  const isOther = tail.run !== null && tail.run.id !== run.id;
  if (isOther) tail.items.push({ key: tail.nextKey++, kind: "run", run });
  if (tail.run?.id !== run.id) tail.lastSeq = 0;
  tail.run = run;
}
