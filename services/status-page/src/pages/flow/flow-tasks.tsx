import { NativeSelect } from "@mantine/core";
import type { FlowTaskView, FlowView, TaskStatus } from "@unacked/contracts";
import { useState } from "react";
import { ActionButton } from "../../parts/action-button.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import table from "../../parts/plain-table.module.css";
import { sayCount, sayDuration } from "../../parts/say.ts";
import { PlainTaskMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfTask } from "../../shell/route.ts";
import { canRerunFlow } from "../../store/flow-looks.ts";
import { ranMs, TASK_SHOWN, TASK_WAIT_WORDS } from "../../store/task-looks.ts";
import css from "./flow.module.css";
import { RerunDialog } from "./rerun-dialog.tsx";

const FIRST = 100;

interface FlowTasksProps {
  flow: FlowView;
  tasks: readonly FlowTaskView[];
  nowMs: number;
  onDone: () => void;
}

/** Each task of the flow, in the order in which they were given; of one that is over each may be run again, with what comes after it. */
export function FlowTasks({ flow, tasks, nowMs, onDone }: FlowTasksProps) {
  const [status, setStatus] = useState<TaskStatus | "">("");
  const [shown, setShown] = useState(FIRST);
  const [from, setFrom] = useState<string | null>(null);
  const such = status === "" ? tasks : tasks.filter((task) => task.status === status);
  // The chosen one stays among them when no task has it any more: the choice would say "any" over an empty table.
  const there = TASK_SHOWN.filter((one) => one === status || tasks.some((task) => task.status === one));
  return (
    <section aria-labelledby="tasks" className={css.section}>
      <div className={css.tasksHead}>
        <h2 id="tasks">Its tasks</h2>
        <NativeSelect
          label="Status"
          size="xs"
          value={status}
          onChange={(event) => setStatus(event.currentTarget.value as TaskStatus | "")}
          data={[
            { value: "", label: `any (${sayCount(tasks.length)})` },
            ...there.map((value) => ({ value, label: value })),
          ]}
        />
      </div>
      {/* Focusable, as a wide one scrolls. */}
      <div className={`panel ${table.panel}`} tabIndex={0} role="group" aria-label="Its tasks, as a table">
        <table className={`${table.table} ${table.lined} ${css.table}`}>
          <thead>
            <tr>
              <th scope="col">Task</th>
              <th scope="col">Status</th>
              <th scope="col">Type</th>
              <th scope="col">After</th>
              <th scope="col">Started</th>
              <th scope="col">Ran for</th>
              <th scope="col">Why</th>
              {canRerunFlow(flow) && (
                <th scope="col">
                  <span className="unseen">Again</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {such.slice(0, shown).map((task) => (
              <TaskRow
                key={task.ref}
                task={task}
                nowMs={nowMs}
                onAgain={canRerunFlow(flow) ? () => setFrom(task.ref) : null}
              />
            ))}
          </tbody>
        </table>
      </div>
      <MoreButton mt="xs" hasMore={such.length > shown} isLoading={false} onClick={() => setShown(shown * 3)}>
        Show more of {sayCount(such.length)}
      </MoreButton>
      {from !== null && (
        <RerunDialog
          flow={flow}
          from={from}
          onClose={() => setFrom(null)}
          onDone={() => {
            setFrom(null);
            onDone();
          }}
        />
      )}
    </section>
  );
}

function TaskRow({ task, nowMs, onAgain }: { task: FlowTaskView; nowMs: number; onAgain: (() => void) | null }) {
  const { ref, taskId, type, status, startedAt, after } = task;
  const tookMs = ranMs(task, nowMs);
  return (
    <tr>
      <th scope="row" className={table.name}>
        <Link href={addressOfTask(taskId)}>{ref}</Link>
      </th>
      <td>
        <PlainTaskMark status={status} />
      </td>
      <td>{type}</td>
      <td className={css.after} title={after.join(", ")}>
        {after.join(", ")}
      </td>
      <td>{startedAt === null ? "–" : <Time at={startedAt} />}</td>
      <td>{tookMs === null ? "–" : sayDuration(tookMs)}</td>
      <td className={css.why}>{whyOf(task)}</td>
      {onAgain !== null && (
        <td>
          <ActionButton
            call="rerunFlow"
            size="compact-xs"
            variant="default"
            aria-label={`Run again from here: ${ref}`}
            onClick={onAgain}
          >
            Run again from here
          </ActionButton>
        </td>
      )}
    </tr>
  );
}

function whyOf({ status, reason, lastError, waitsFor, waitReason }: FlowTaskView): string {
  if (reason !== null) return reason;
  if (lastError !== null) return `${lastError.name}: ${lastError.message}`;
  if (status === "Blocked") return `waits for ${sayCount(waitsFor)} before it`;
  return waitReason === null ? "" : `waits for ${TASK_WAIT_WORDS[waitReason]}`;
}
