import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { Blank } from "../../parts/blank.tsx";
import { FoundCount } from "../../parts/found-count.tsx";
import { Pager, usePages } from "../../parts/pager.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { navigate, useSearch } from "../../shell/navigation.tsx";
import { addressOfTasks, isNarrowed, queryOf, type TaskFilter, taskFilterOf } from "../../store/task-filter.ts";
import { TaskFailures } from "./task-failures.tsx";
import { TaskFigures } from "./task-figures.tsx";
import { TaskFilterBar } from "./task-filter-bar.tsx";
import { TaskTable } from "./task-table.tsx";
import { TaskTypes } from "./task-types.tsx";

const LOOK_EVERY_MS = 2_000;
const PAGE = 100;
/** What one call answers at most. */
const MOST = 1_000;

/** Jobs that end: what waits, what runs, what became of the others. The newest first. */
export default function Tasks() {
  const search = useSearch();
  const filter = taskFilterOf(search);
  const [limit, setLimit] = useState(PAGE);
  const pages = usePages(search);
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const query = { ...queryOf(filter, limit), ...pages.query };
  const answer = useAnswer("listTasks", { query }, nowMs);
  const { data, failure, reload } = answer;
  // An answer that was cut before it was as long as asked for would be no longer with more: what is beyond is on the next page.
  const canGrow = data !== null && limit < MOST && data.items.length >= limit;
  const narrow = (change: Partial<TaskFilter>) => {
    setLimit(PAGE);
    navigate(addressOfTasks({ ...filter, ...change }), { replace: true });
  };
  return (
    <>
      <h1>Tasks</h1>
      <TaskFigures />
      <TaskTypes nowMs={nowMs} />
      <TaskFailures />
      <TaskFilterBar filter={filter} onChange={narrow} />
      {data === null && <Unanswered what="The tasks" height="20rem" failure={failure} onRetry={reload} />}
      {data !== null && (
        <>
          <FoundCount shown={pages.rowsBefore + data.items.length} of={data} answer={answer} />
          {data.items.length === 0 ? <None filter={filter} /> : <TaskTable tasks={data.items} nowMs={nowMs} />}
          <Pager
            pages={pages}
            page={data}
            onMore={canGrow ? () => setLimit(Math.min(MOST, limit * 3)) : undefined}
            isTurning={answer.isTurning}
          />
        </>
      )}
    </>
  );
}

function None({ filter }: { filter: TaskFilter }) {
  if (isNarrowed(filter))
    return (
      <Blank title="No task is like that">
        <p>What has ended is forgotten after some days.</p>
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
