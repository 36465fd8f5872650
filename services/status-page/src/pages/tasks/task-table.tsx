import type { TaskView } from "@unacked/contracts";
import table from "../../parts/plain-table.module.css";
import { sayCount, sayDuration } from "../../parts/say.ts";
import { TaskMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfTask } from "../../shell/route.ts";
import { ranMs, shortId } from "../../store/task-looks.ts";
import css from "./tasks.module.css";

export function TaskTable({ tasks, nowMs }: { tasks: readonly TaskView[]; nowMs: number }) {
  return (
    // Focusable, as a wide one scrolls.
    <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Tasks">
      <table className={`${table.table} ${table.lined} ${css.table}`}>
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Status</th>
            <th scope="col">Type</th>
            <th scope="col">Pool</th>
            <th scope="col">Created</th>
            <th scope="col">Ran for</th>
            <th scope="col">Failures</th>
            <th scope="col">Service</th>
            <th scope="col">What it said last</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <TaskRow key={task.id} task={task} nowMs={nowMs} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function TaskRow({ task, nowMs }: { task: TaskView; nowMs: number }) {
  const { id, type, pool, createdAt, failures, service, taken, lastError } = task;
  const tookMs = ranMs(task, nowMs);
  const saidLast = lastError === null ? "" : `${lastError.name}: ${lastError.message}`;
  return (
    <tr>
      <th scope="row">
        <Link href={addressOfTask(id)} title={id}>
          <code>{shortId(id)}</code>
        </Link>
      </th>
      <td>
        <TaskMark task={task} />
      </td>
      <td className={table.name}>{type}</td>
      <td className={table.name}>{pool}</td>
      <td className={table.folds}>
        <Time at={createdAt} />
      </td>
      <td>{tookMs === null ? "–" : sayDuration(tookMs)}</td>
      <td>{sayCount(failures)}</td>
      <td>{service?.name ?? (taken === null ? "–" : `taken by ${taken.by}`)}</td>
      <td className={css.said} title={saidLast}>
        {saidLast}
      </td>
    </tr>
  );
}
