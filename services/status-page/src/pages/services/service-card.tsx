import type { ServiceView } from "@unacked/contracts";
import { Fragment, type ReactNode } from "react";
import { useNow } from "../../live/use-now.ts";
import { useUsedOf } from "../../live/use-used-of.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { sayAge, sayBytes, sayMany } from "../../parts/say.ts";
import { ServiceMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { WorkersBar } from "../../parts/workers-bar.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfTasks } from "../../store/task-filter.ts";
import { BrokenFiles } from "./broken-files.tsx";
import { Cordon } from "./cordon.tsx";
import css from "./service-card.module.css";
import { Slots } from "./slots.tsx";

/** A loop that is blocked for longer makes everything on the service late. */
const SLOW_LOOP_MS = 200;

export function ServiceCard({ service, onDrain }: { service: ServiceView; onDrain: () => void }) {
  const used = useUsedOf()(service);
  const nowMs = useNow(1_000);
  return (
    <section className={`panel ${css.card}`} aria-label={service.name}>
      <div className={css.head}>
        <h2>{service.name}</h2>
        <ServiceMark service={service} />
      </div>
      <div>
        <p className={`${css.workers} figures`}>
          <Link href={`/observers?service=${encodeURIComponent(service.name)}`}>
            {used} of {service.workerCount} workers in use
          </Link>
          {service.free > 0 && <>, room for {service.free} more</>}
        </p>
        <WorkersBar
          used={used}
          total={service.workerCount}
          label={service.name}
          isClosed={service.draining || service.cordoned}
        />
      </div>
      <dl className={css.facts}>
        {factsOf(service, nowMs).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      <Slots service={service} nowMs={nowMs} />
      <BrokenFiles files={service.brokenFiles} />
      {service.brokerLoss !== null && (
        <p className={css.loss}>
          <strong>{service.brokerLoss.detail}</strong> {service.brokerLoss.remedy}
        </p>
      )}
      {service.notConsuming !== null && (
        <p className={css.loss}>
          <strong>It takes no observers for now:</strong> {service.notConsuming}.
        </p>
      )}
      {service.draining && <p className={css.drain}>{drainText(service, used)}</p>}
      {service.cordoned && <p className={css.drain}>It takes nothing new; what runs on it goes on.</p>}
      <div className={css.actions}>
        {!service.draining && (
          <ActionButton call="drainService" size="compact-sm" variant="default" onClick={onDrain}>
            Drain<span className="unseen"> {service.name}</span>
          </ActionButton>
        )}
        <Cordon service={service} size="compact-sm" />
      </div>
    </section>
  );
}

/** Whether it has heard of its drain already, only `drained` says: one that stands still takes work again before it does. */
const drainText = ({ drained, tasksLeft }: ServiceView, used: number): string =>
  drained
    ? "It is empty and takes nothing: its process can be ended. The next one takes work again."
    : `It takes nothing new; ${sayMany(used, "observer")}${tasksLeft > 0 ? ` and ${sayMany(tasksLeft, "task")}` : ""} still on it.`;

function factsOf(service: ServiceView, nowMs: number): [string, ReactNode][] {
  const lag = Math.round(service.eventLoopLagMs);
  return [
    ["Up for", sayAge(Math.max(0, nowMs - Date.parse(service.startedAt)))],
    ["Last seen", <Time key="seen" at={service.lastSeenAt} />],
    ["Memory", sayBytes(service.memoryBytes)],
    ["Event loop", lag >= SLOW_LOOP_MS ? `${lag} ms behind: something blocks it` : `${lag} ms behind`],
    ["Pool", service.pool],
    ["Types", service.types.join(", ") || "none"],
    ...tasksOf(service),
    ["Version", service.version],
    ["Host", `${service.host}, pid ${service.pid}`],
    ["Connections", `${service.generation} so far, heartbeat ${service.heartbeatMs / 1_000} s`],
  ];
}

/** Of a service that takes tasks, too. */
function tasksOf({ name, tasks }: ServiceView): [string, ReactNode][] {
  if (tasks === null) return [];
  return [
    [
      "Tasks",
      <Fragment key="tasks">
        {sayMany(tasks.workers, "worker")}, apart from those of observers:{" "}
        {tasks.types.map((type, i) => (
          <Fragment key={type}>
            {i > 0 && ", "}
            <Link href={addressOfTasks({ type })}>{type}</Link>
          </Fragment>
        ))}
        {tasks.types.length === 0 && "no types"}.{" "}
        <Link href={addressOfTasks({ service: name })}>
          What runs<span className="unseen"> on {name}</span>
        </Link>
      </Fragment>,
    ],
  ];
}
