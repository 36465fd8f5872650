import type { TaskTypeView } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import table from "../../parts/plain-table.module.css";
import { sayCount, sayMany } from "../../parts/say.ts";
import { LimitDialog } from "./limit-dialog.tsx";
import css from "./tasks.module.css";

/** What types there are, how many of each are in flight, and their limits, which are changed in place. */
export function TaskTypes({ nowMs }: { nowMs: number }) {
  const { data, failure, reload } = useAnswer("listTaskTypes", {}, nowMs);
  const [asked, setAsked] = useState<TaskTypeView | null>(null);
  if (data === null && failure !== null) return <Failure what="The task types" failure={failure} onRetry={reload} />;
  if (data === null || data.items.length === 0) return null;
  return (
    <details className={css.types}>
      <summary>
        {sayMany(data.items.length, "type")}
        {saidOf(data.items)}
      </summary>
      <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Task types">
        <table className={`${table.table} ${table.lined} ${css.limitTable}`}>
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col">Services</th>
              <th scope="col">In flight</th>
              <th scope="col">At most</th>
              <th scope="col">Workers kept</th>
              <th scope="col">A second</th>
              <th scope="col">
                <span className="unseen">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.items.map((type) => (
              <TypeRow key={type.type} of={type} onChange={() => setAsked(type)} />
            ))}
          </tbody>
        </table>
      </section>
      {asked !== null && (
        <LimitDialog
          of={asked}
          onClose={(hasChanged) => {
            setAsked(null);
            if (hasChanged) reload();
          }}
        />
      )}
    </details>
  );
}

function TypeRow({ of, onChange }: { of: TaskTypeView; onChange: () => void }) {
  const { type, paused, outside, services, inFlight, maxRunning, minRunning, ratePerSecond } = of;
  return (
    <tr>
      <th scope="row">
        {type}
        {paused && <strong className={css.paused}>paused</strong>}
        {outside && <span className={css.paused}>worked outside</span>}
      </th>
      <td>{sayCount(services)}</td>
      <td>{sayCount(inFlight)}</td>
      <td>{maxRunning === null ? "–" : sayCount(maxRunning)}</td>
      <td>{minRunning === 0 ? "–" : sayCount(minRunning)}</td>
      <td>{ratePerSecond === null ? "–" : sayCount(ratePerSecond)}</td>
      <td>
        <ActionButton call="changeTaskType" size="compact-sm" variant="default" onClick={onChange}>
          Change<span className="unseen"> the limits of {type}</span>
        </ActionButton>
      </td>
    </tr>
  );
}

function saidOf(types: readonly TaskTypeView[]): string {
  const paused = types.filter((type) => type.paused).length;
  const limited = types.filter(
    ({ maxRunning, minRunning, ratePerSecond }) => maxRunning ?? ratePerSecond ?? (minRunning || null),
  );
  return [
    ...(limited.length > 0 ? [`, ${limited.length} limited`] : []),
    ...(paused > 0 ? [`, ${paused} paused`] : []),
  ].join("");
}
