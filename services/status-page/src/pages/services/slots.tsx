import type { ServiceView, SlotDeathView, SlotView } from "@unacked/contracts";
import plain from "../../parts/plain-table.module.css";
import { sayAge, sayBytes, sayMany } from "../../parts/say.ts";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfObserver, addressOfTask } from "../../shell/route.ts";
import css from "./slots.module.css";

/** The processes in which a service runs observers, and why others ended; in one line until it is asked for. */
export function Slots({ service, nowMs }: { service: ServiceView; nowMs: number }) {
  const { slots, slotDeaths, slotDeathsLately } = service;
  if (slots.length === 0 && slotDeaths.length === 0) return null;
  const [last] = slotDeaths;
  return (
    <details className={css.slots}>
      <summary className={css.summary}>
        {summaryOf(slots)}
        {slotDeathsLately > 0 && <strong className={css.lately}>, {slotDeathsLately} ended in 10 min</strong>}
        <span className="unseen"> of {service.name}</span>
        {last !== undefined && <span className={css.last}>{last.why}</span>}
      </summary>
      <div className={css.scroll} tabIndex={0} role="region" aria-label={`Slots of ${service.name}`}>
        <table className={`${plain.table} ${plain.lined} ${css.table} figures`}>
          <thead>
            <tr>
              {["Pid", "For", "Runs", "Memory", "Behind", "Up for"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {slots.map((slot) => (
              <tr key={slot.pid}>
                <th scope="row">{slot.pid}</th>
                <td>{PURPOSES[slot.purpose] ?? slot.purpose}</td>
                <td>{slot.runs}</td>
                <td>{sayBytes(slot.memoryBytes)}</td>
                <td>{Math.round(slot.lagMs)} ms</td>
                <td>{sayAge(nowMs - Date.parse(slot.startedAt))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {slotDeaths.length > 0 && (
        <ul className={css.deaths} aria-label={`Slots of ${service.name} that ended`}>
          {slotDeaths.map((death) => (
            <Death key={`${death.pid} ${death.at}`} death={death} />
          ))}
        </ul>
      )}
    </details>
  );
}

const PURPOSES: Record<string, string> = {
  shared: "everybody",
  spare: "nobody yet",
  suspects: "suspects",
  alone: "one alone",
  own: "one type",
};

function summaryOf(slots: readonly SlotView[]): string {
  if (slots.length === 0) return "No slot is left";
  const bytes = slots.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  const worstMs = Math.max(...slots.map(({ lagMs }) => lagMs));
  return `${sayMany(slots.length, "slot")}, ${sayBytes(bytes)}, at most ${Math.round(worstMs)} ms behind`;
}

function Death({ death }: { death: SlotDeathView }) {
  const { at, pid, end, why, runs, culprit, culpritTask } = death;
  return (
    <li>
      <Time at={at} />, pid {pid}, {end}, with {sayMany(runs, "observer")}: {why}
      {culprit !== null && (
        <>
          {" "}
          (<Link href={addressOfObserver(culprit.id)}>{culprit.name}</Link>)
        </>
      )}
      {culpritTask !== null && culpritTask.id !== null && (
        <>
          {" "}
          (<Link href={addressOfTask(culpritTask.id)}>the task</Link>)
        </>
      )}
    </li>
  );
}
