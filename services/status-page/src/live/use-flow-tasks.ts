import type { FlowTaskView } from "@unacked/contracts";
import { useCallback, useEffect, useRef, useState } from "react";
import { CallError, call } from "../wire/call.ts";
import { OneReading } from "./one-reading.ts";

const PAGE = 1_000;
const AGAIN_MS = 2_000;

interface ReadTasks {
  tasks: FlowTaskView[] | null;
  failure: CallError | null;
  reload(): void;
}

/**
 * All tasks of a flow, page by page, and again with each new `version`, or where that has failed: what is over has no new version, and
 * would be shown for ever as it was before. One reading at a time. What came before stays until the next is whole. Of ten thousand these
 * are ten calls.
 */
export function useFlowTasks(flowId: string, version: unknown): ReadTasks {
  const [state, setState] = useState<{ tasks: FlowTaskView[] | null; failure: CallError | null }>({
    tasks: null,
    failure: null,
  });
  const [asked, setAsked] = useState(0);
  const reload = useCallback(() => setAsked((count) => count + 1), []);
  const reading = useRef(new OneReading());
  useEffect(() => {
    let again: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    reading.current.ask(() =>
      readAll(flowId).then(
        (tasks) => setState({ tasks, failure: null }),
        (error: unknown) => {
          setState(({ tasks }) => ({ tasks, failure: error instanceof CallError ? error : null }));
          if (!isLeft) again = setTimeout(reload, AGAIN_MS);
        },
      ),
    );
    return () => {
      isLeft = true;
      clearTimeout(again);
    };
  }, [flowId, version, asked, reload]);
  return { ...state, reload };
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
