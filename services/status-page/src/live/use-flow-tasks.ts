import type { FlowTaskView } from "@unacked/contracts";
import { useEffect, useRef, useState } from "react";
import { CallError, call } from "../wire/call.ts";
import { OneReading } from "./one-reading.ts";

const PAGE = 1_000;

/**
 * All tasks of a flow, page by page, and again with each new `version`; one reading at a time. What came before stays until the next is
 * whole. Of ten thousand these are ten calls.
 */
export function useFlowTasks(flowId: string, version: unknown): { tasks: FlowTaskView[] | null; failure: CallError | null } {
  const [state, setState] = useState<{ tasks: FlowTaskView[] | null; failure: CallError | null }>({
    tasks: null,
    failure: null,
  });
  const reading = useRef(new OneReading());
  useEffect(() => {
    reading.current.ask(() =>
      readAll(flowId).then(
        (tasks) => setState({ tasks, failure: null }),
        (error: unknown) => setState(({ tasks }) => ({ tasks, failure: error instanceof CallError ? error : null })),
      ),
    );
  }, [flowId, version]);
  return state;
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
