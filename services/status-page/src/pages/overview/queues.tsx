import type { Stats } from "@unacked/contracts";
import plain from "../../parts/plain-table.module.css";
import { sayCount } from "../../parts/say.ts";
import css from "./queues.module.css";

/** How much waits in the broker. Running observers are not ready: a service holds their messages. */
export function Queues({ stats }: { stats: Stats }) {
  const { queues, stateQueueLag } = stats;
  return (
    <section aria-labelledby="queues-title">
      <h2 id="queues-title" className={css.title}>
        Queues
      </h2>
      <div className={`panel ${plain.panel}`}>
        {queues === null ? (
          <p className={css.away}>The broker cannot be asked now.</p>
        ) : (
          <table className={`${plain.table} ${css.table} figures`}>
            <thead>
              <tr>
                <th scope="col">Queue</th>
                <th scope="col">Waiting</th>
                <th scope="col">Consumers</th>
              </tr>
            </thead>
            <tbody>
              {queues.map(({ queue, ready, consumers }) => (
                <tr key={queue}>
                  <th scope="row">{queue}</th>
                  <td>{sayCount(ready)}</td>
                  <td>{sayCount(consumers)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {stateQueueLag !== null && stateQueueLag > 0 && (
          <p className={css.away}>{sayCount(stateQueueLag)} batches of events are not in the books yet.</p>
        )}
      </div>
    </section>
  );
}
