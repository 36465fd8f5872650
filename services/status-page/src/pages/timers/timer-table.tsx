import type { TimerView } from "@unacked/contracts";
import { ActionButton } from "../../parts/action-button.tsx";
import table from "../../parts/plain-table.module.css";
import { TimerMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { WhoDidWhat } from "../../parts/who-did-what.tsx";
import { shortId } from "../../store/task-looks.ts";
import { sayProblem, sayWhen } from "./timer-words.ts";
import css from "./timers.module.css";

interface Props {
  timers: readonly TimerView[];
  nowMs: number;
  onCancel: (timer: TimerView) => void;
}

export function TimerTable({ timers, nowMs, onCancel }: Props) {
  return (
    // Focusable, as a wide one scrolls.
    <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Timers">
      <table className={`${table.table} ${table.lined} ${css.table}`}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Status</th>
            <th scope="col">Its time</th>
            <th scope="col">When</th>
            <th scope="col">Payload</th>
            <th scope="col">Last problem</th>
            <th scope="col">Created</th>
            <th scope="col">Id</th>
            <th scope="col">
              <span className="unseen">Cancel</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {timers.map((timer) => (
            <TimerRow key={timer.id} timer={timer} nowMs={nowMs} onCancel={onCancel} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function TimerRow({ timer, nowMs, onCancel }: { timer: TimerView } & Omit<Props, "timers">) {
  const { id, name, status, at, payload, createdAt } = timer;
  const json = JSON.stringify(payload);
  return (
    <tr>
      <th scope="row" className={css.name}>
        {name}
      </th>
      <td>
        <TimerMark status={status} />
      </td>
      <td className={table.folds}>
        <Time at={at} isBare />
      </td>
      <td className={table.folds}>{sayWhen(timer, nowMs)}</td>
      <td className={css.payload} title={json.slice(0, 2_000)}>
        <code>{json.slice(0, 100)}</code>
      </td>
      <td className={css.problem}>{sayProblem(timer)}</td>
      <td className={table.folds}>
        <Time at={createdAt} />
      </td>
      <td>
        <code title={id}>{shortId(id)}</code> <WhoDidWhat kind="timer" id={id} />
      </td>
      <td>
        {status === "Waiting" && (
          <ActionButton call="cancelTimer" size="compact-sm" variant="default" onClick={() => onCancel(timer)}>
            Cancel<span className="unseen"> {`${name} ${shortId(id)}`}</span>
          </ActionButton>
        )}
      </td>
    </tr>
  );
}
