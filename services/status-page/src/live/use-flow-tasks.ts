import type { FlowTaskView } from "@unacked/contracts";
import { useCallback, useEffect, useState } from "react";
import { CallError, call } from "../wire/call.ts";
import { OneReading } from "./one-reading.ts";
import { againInMs } from "./use-answer.ts";
import { useToldOld } from "./use-told-old.ts";

const PAGE = 1_000;

interface ReadTasks {
  tasks: FlowTaskView[] | null;
  failure: CallError | null;
  reload(): void;
}

/**
 * All tasks of a flow, page by page, and again with each new `version`, or where that has failed: what is over has no new version, and
 * would be shown for ever as it was before. One reading at a time. What came before stays until the next is whole, and where that does
 * not come the page says that it is old. Of ten thousand these are ten calls.
 */
export function useFlowTasks(flowId: string, version: unknown): ReadTasks {
  const [state, setState] = useState<Pick<ReadTasks, "tasks" | "failure"> & { readAtMs: number }>({
    tasks: null,
    readAtMs: 0,
    failure: null,
  });
  const [asked, setAsked] = useState(0);
  const reload = useCallback(() => setAsked((count) => count + 1), []);
  const [reading] = useState(() => new OneReading());
  useEffect(() => {
    let again: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    reading.ask(() =>
      readAll(flowId).then(
        (tasks) => setState({ tasks, readAtMs: Date.now(), failure: null }),
        (error: unknown) => {
          const failure = error instanceof CallError ? error : null;
          setState((before) => ({ ...before, failure }));
          if (!isLeft) again = setTimeout(reload, againInMs(failure));
        },
      ),
    );
    return () => {
      isLeft = true;
      clearTimeout(again);
    };
  }, [reading, flowId, version, asked, reload]);
  const { tasks, readAtMs, failure } = state;
  useToldOld(reading, { data: tasks, readAtMs, failure });
  return { tasks, failure, reload };
}

async function readAll(flowId: string): Promise<FlowTaskView[]> {
  const tasks: FlowTaskView[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: PAGE, ...(cursor !== null && { cursor }) };
    const page = await call("listFlowTasks", { path: { flowId }, query });
    tasks.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return tasks;
}
