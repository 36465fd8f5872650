import type { TaskFailureGroup } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import table from "../../parts/plain-table.module.css";
import { sayCount, sayMany } from "../../parts/say.ts";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { addressOfTask } from "../../shell/route.ts";
import { call } from "../../wire/call.ts";
import css from "./figures.module.css";
import tasksCss from "./tasks.module.css";

const LOOK_EVERY_MS = 15_000;

/** What is Failed, by type and what went wrong; each as a whole runs again, or one of it is opened. */
export function TaskFailures() {
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const { data, failure, reload } = useAnswer("groupTaskFailures", {}, nowMs);
  const [asked, setAsked] = useState<TaskFailureGroup | null>(null);
  const { say } = useNotices();
  if (data === null && failure !== null) return <Failure what="What failed, by cause," failure={failure} onRetry={reload} />;
  if (data === null || data.items.length === 0) return null;
  const retry = async ({ type, group }: TaskFailureGroup) => {
    const { accepted, more } = await call("retryTaskFailures", { body: { type, group } });
    say("done", `${sayMany(accepted, "task")} ${accepted === 1 ? "runs" : "run"} again${more ? "; there are more" : ""}.`);
    setAsked(null);
    reload();
  };
  const count = data.items.reduce((sum, item) => sum + item.count, 0);
  return (
    <details className={tasksCss.types}>
      <summary>
        {data.isComplete ? "" : "more than "}
        {sayMany(count, "failed task")}, by {sayMany(data.total, "cause")}
      </summary>
      <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Failures">
        <table className={`${table.table} ${table.lined} ${css.groups}`}>
          <thead>
            <tr>
              <th scope="col">What went wrong</th>
              <th scope="col">Type</th>
              <th scope="col">Tasks</th>
              <th scope="col">Last</th>
              <th scope="col">One of them</th>
              <th scope="col">
                <span className="unseen">Run again</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.items.map((group) => (
              <GroupRow key={`${group.type} ${group.group}`} of={group} onRetry={() => setAsked(group)} />
            ))}
          </tbody>
        </table>
      </section>
      {asked !== null && (
        <ConfirmDialog
          title={`Run ${sayMany(asked.count, "task")} again?`}
          verb="Run all again"
          isDangerous={false}
          onConfirm={() => retry(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            All of {asked.type} that failed with: {asked.group}
          </p>
          <p>They are due at once, with all their attempts.</p>
        </ConfirmDialog>
      )}
    </details>
  );
}

function GroupRow({
  of: { type, group, count, lastEndedAt, example },
  onRetry,
}: {
  of: TaskFailureGroup;
  onRetry: () => void;
}) {
  return (
    <tr>
      <th scope="row" className={css.what}>
        {group}
      </th>
      <td>{type}</td>
      <td>{sayCount(count)}</td>
      <td>
        <Time at={lastEndedAt} />
      </td>
      <td>
        <Link href={addressOfTask(example.id)}>
          Open<span className="unseen"> one that failed with {group}</span>
        </Link>
      </td>
      <td>
        <ActionButton call="retryTaskFailures" size="compact-sm" variant="default" onClick={onRetry}>
          Run all again<span className="unseen"> that failed with {group}</span>
        </ActionButton>
      </td>
    </tr>
  );
}
