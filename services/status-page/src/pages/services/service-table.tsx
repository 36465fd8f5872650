import type { ServiceView } from "@unacked/contracts";
import { useNow } from "../../live/use-now.ts";
import { useUsedOf } from "../../live/use-used-of.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import table from "../../parts/plain-table.module.css";
import { sayAge, sayAgo, sayBytes } from "../../parts/say.ts";
import { ServiceMark } from "../../parts/status-mark.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfTasks } from "../../store/task-filter.ts";
import { Cordon } from "./cordon.tsx";
import css from "./service-table.module.css";

interface Props {
  services: readonly ServiceView[];
  onDrain: (service: ServiceView) => void;
}

/** All of them, a line each: which one stands out. What a card tells more, the card tells. */
export function ServiceTable({ services, onDrain }: Props) {
  const nowMs = useNow(1_000);
  return (
    // Focusable, as a wide one scrolls.
    <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Services">
      <table className={`${table.table} ${table.lined} ${css.table} figures`}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Pool</th>
            <th scope="col" className={css.number}>
              In use
            </th>
            <th scope="col" className={css.number}>
              Workers
            </th>
            <th scope="col" className={css.number}>
              Room
            </th>
            <th scope="col" className={css.number}>
              Task workers
            </th>
            <th scope="col" className={css.number}>
              Slots
            </th>
            <th scope="col" className={css.number}>
              Slots ended in 10 min
            </th>
            <th scope="col" className={css.number}>
              Memory
            </th>
            <th scope="col" className={css.number}>
              Loop behind
            </th>
            <th scope="col">Version</th>
            <th scope="col">Up for</th>
            <th scope="col">Seen</th>
            <th scope="col">To know</th>
            <th scope="col">
              <span className="unseen">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {services.map((service) => (
            <Row key={service.id} service={service} nowMs={nowMs} onDrain={onDrain} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ service, nowMs, onDrain }: { service: ServiceView; nowMs: number; onDrain: Props["onDrain"] }) {
  const { name, pool, workerCount, free, tasks, slots, slotDeathsLately, memoryBytes, eventLoopLagMs, version } = service;
  return (
    <tr>
      <th scope="row" className={table.name}>
        <Link href={`/observers?service=${encodeURIComponent(name)}`}>{name}</Link>
      </th>
      <td>
        <ServiceMark service={service} />
      </td>
      <td className={table.name}>{pool}</td>
      <td className={css.number}>{useUsedOf()(service)}</td>
      <td className={css.number}>{workerCount}</td>
      <td className={css.number}>{free}</td>
      <td className={css.number}>
        {tasks !== null && (
          <Link href={addressOfTasks({ service: name })}>
            {tasks.workers}
            <span className="unseen"> task workers: what runs on {name}</span>
          </Link>
        )}
      </td>
      <td className={css.number}>{slots.length}</td>
      <td className={css.number} data-bad={slotDeathsLately > 0}>
        {slotDeathsLately}
      </td>
      <td className={css.number}>{sayBytes(memoryBytes)}</td>
      <td className={css.number}>{Math.round(eventLoopLagMs)} ms</td>
      <td>{version}</td>
      <td>{sayAge(nowMs - Date.parse(service.startedAt))}</td>
      <td>{sayAgo(nowMs - Date.parse(service.lastSeenAt))}</td>
      <td className={css.notes}>{notesOf(service).join("; ")}</td>
      <td>
        <div className={css.actions}>
          {!service.draining && (
            <ActionButton call="drainService" size="compact-xs" variant="default" onClick={() => onDrain(service)}>
              Drain<span className="unseen"> {name}</span>
            </ActionButton>
          )}
          <Cordon service={service} size="compact-xs" />
        </div>
      </td>
    </tr>
  );
}

const notesOf = ({ brokenFiles, brokerLoss, notConsuming }: ServiceView): string[] => [
  ...(notConsuming === null ? [] : [`takes none for now: ${notConsuming}`]),
  ...(brokenFiles.length === 0 ? [] : [`${brokenFiles.length} of its files do not load`]),
  ...(brokerLoss === null ? [] : [brokerLoss.detail]),
];
