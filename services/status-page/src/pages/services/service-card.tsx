import type { ServiceView } from "@unacked/contracts";
import { Fragment, type ReactNode } from "react";
import { useLive, useSignal } from "../../live/use-live.ts";
import { useNow } from "../../live/use-now.ts";
import { sayAge, sayBytes } from "../../parts/say.ts";
import { StateMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { WorkersBar } from "../../parts/workers-bar.tsx";
import { Link } from "../../shell/navigation.tsx";
import css from "./service-card.module.css";

/** A loop that is blocked for longer makes everything on the service late. */
const SLOW_LOOP_MS = 200;

export function ServiceCard({ service }: { service: ServiceView }) {
  const { observers } = useLive();
  useSignal(observers.changed);
  const nowMs = useNow(1_000);
  const used = observers.loading.phase === "whole" ? observers.index.runningOn(service.id) : service.running;
  return (
    <section className={`panel ${css.card}`} aria-label={service.name}>
      <div className={css.head}>
        <h2 className={css.name}>{service.name}</h2>
        <StateMark state={service.state} />
      </div>
      <div>
        <p className={`${css.workers} figures`}>
          <Link href={`/observers?service=${encodeURIComponent(service.name)}`}>
            {used} of {service.workerCount} workers in use
          </Link>
        </p>
        <WorkersBar used={used} total={service.workerCount} label={service.name} />
      </div>
      <dl className={css.facts}>
        {factsOf(service, nowMs).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      {service.brokerLoss !== null && (
        <p className={css.loss}>
          <strong>{service.brokerLoss.detail}</strong> {service.brokerLoss.remedy}
        </p>
      )}
    </section>
  );
}

function factsOf(service: ServiceView, nowMs: number): [string, ReactNode][] {
  const lag = Math.round(service.eventLoopLagMs);
  return [
    ["Up for", sayAge(Math.max(0, nowMs - Date.parse(service.startedAt)))],
    ["Last seen", <Time key="seen" at={service.lastSeenAt} />],
    ["Memory", sayBytes(service.memoryBytes)],
    ["Event loop", lag >= SLOW_LOOP_MS ? `${lag} ms behind: something blocks it` : `${lag} ms behind`],
    ["Pool", service.pool],
    ["Types", service.types.join(", ") || "none"],
    ["Version", service.version],
    ["Host", `${service.host}, pid ${service.pid}`],
    ["Connections", `${service.generation} so far, heartbeat ${service.heartbeatMs / 1_000} s`],
  ];
}
