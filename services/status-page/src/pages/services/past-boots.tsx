import { Button } from "@mantine/core";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { Blank } from "../../parts/blank.tsx";
import plain from "../../parts/plain-table.module.css";
import { sayAge } from "../../parts/say.ts";
import { StateMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import css from "./past-boots.module.css";

const MOST = 200;

/** Each boot of a service is one of its own; those that have ended are asked for only when wanted. */
export function PastBoots() {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-labelledby="past-title">
      <div className={css.head}>
        <h2 id="past-title">Past boots</h2>
        <Button size="compact-sm" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide" : "Show"}
        </Button>
      </div>
      {isOpen && <Ended />}
    </section>
  );
}

function Ended() {
  const { services } = useLive();
  useSignal(services.changed);
  const living = services
    .living()
    .map(({ id }) => id)
    .join();
  const { data, failure, reload } = useAnswer("listServices", { query: { all: true } }, living);
  if (data === null) return <Unanswered what="The past boots" height="8rem" failure={failure} onRetry={reload} />;
  const ended = data.items
    .filter(({ endedAt }) => endedAt !== null)
    .sort((a, b) => String(b.endedAt).localeCompare(String(a.endedAt)));
  if (ended.length === 0) {
    return (
      <div className="panel">
        <Blank title="None has ended" />
      </div>
    );
  }
  return (
    <div className={`panel ${plain.panel}`} tabIndex={0} role="region" aria-label="Those that have ended">
      <table className={`${plain.table} ${plain.lined} ${css.table} figures`}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Ended</th>
            <th scope="col">Was up for</th>
            <th scope="col">Why</th>
            <th scope="col">Host</th>
          </tr>
        </thead>
        <tbody>
          {ended.slice(0, MOST).map((service) => (
            <tr key={service.id}>
              <th scope="row">{service.name}</th>
              <td>
                <StateMark state={service.state} />
              </td>
              <td>
                <Time at={service.endedAt ?? ""} />
              </td>
              <td>{sayAge(Math.max(0, Date.parse(service.endedAt ?? "") - Date.parse(service.startedAt)))}</td>
              <td>{service.endReason ?? "–"}</td>
              <td>
                {service.host}, pid {service.pid}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
