import { useList } from "../../live/use-list.ts";
import { Blank } from "../../parts/blank.tsx";
import { Listed } from "../../parts/listed.tsx";
import { navigate, useSearch } from "../../shell/navigation.tsx";
import { addressOfTasks, isNarrowed, queryOf, type TaskFilter, taskFilterOf } from "../../store/task-filter.ts";
import { TaskFailures } from "./task-failures.tsx";
import { TaskFigures } from "./task-figures.tsx";
import { TaskFilterBar } from "./task-filter-bar.tsx";
import { TaskTable } from "./task-table.tsx";
import { TaskTypes } from "./task-types.tsx";

/** Jobs that end: what waits, what runs, what became of the others. The newest first. */
export default function Tasks() {
  const search = useSearch();
  const filter = taskFilterOf(search);
  const list = useList("listTasks", queryOf(filter), search);
  const narrow = (change: Partial<TaskFilter>) => {
    list.restart();
    navigate(addressOfTasks({ ...filter, ...change }), { replace: true });
  };
  return (
    <>
      <h1>Tasks</h1>
      <TaskFigures />
      <TaskTypes nowMs={list.nowMs} />
      <TaskFailures />
      <TaskFilterBar filter={filter} onChange={narrow} />
      <Listed what="The tasks" list={list} none={<None filter={filter} />}>
        {(tasks) => <TaskTable tasks={tasks} nowMs={list.nowMs} />}
      </Listed>
    </>
  );
}

function None({ filter }: { filter: TaskFilter }) {
  if (filter.service !== "")
    return (
      <Blank title="No task matches">
        <p>A task is on a service only while it runs: what waits, or is on its way, is on none yet.</p>
      </Blank>
    );
  if (isNarrowed(filter))
    return (
      <Blank title="No task matches">
        <p>Tasks that have ended are forgotten after some days.</p>
      </Blank>
    );
  return (
    <Blank title="There are no tasks yet">
      <p>
        A task is a job that ends: <code>unacked run TYPE key=value</code>, or <code>POST /api/v1/tasks</code>.
      </p>
    </Blank>
  );
}
