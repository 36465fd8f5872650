import type { ServiceView, Stats } from "@unacked/contracts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { StateMark } from "../../parts/status-mark.tsx";
import { WorkersBar } from "../../parts/workers-bar.tsx";
import { Link } from "../../shell/navigation.tsx";
import css from "./service-bars.module.css";

/** Workers used and free, service by service; whether the others could take over what the largest runs. */
export function ServiceBars({ stats }: { stats: Stats | null }) {
  const { services } = useLive();
  useSignal(services.changed);
  const living = services.living();
  return (
    <section aria-labelledby="workers-title">
      <div className={css.head}>
        <h2 id="workers-title">Workers</h2>
        {stats !== null && living.length > 0 && (
          <span className={css.survives} data-good={stats.survivesLargestService}>
            {stats.survivesLargestService
              ? "enough free to lose the largest service"
              : "not enough free to lose the largest service"}
          </span>
        )}
      </div>
      <div className={`panel ${css.services}`}>
        {!services.isRead && <Pending label="Reading the services" height="8rem" />}
        {services.isRead && living.length === 0 && (
          <Blank title="No service is alive">
            <p>Observers wait until an observer-service starts.</p>
          </Blank>
        )}
        {living.map((service) => (
          <ServiceBar key={service.id} service={service} />
        ))}
      </div>
    </section>
  );
}

function ServiceBar({ service }: { service: ServiceView }) {
  const { observers } = useLive();
  useSignal(observers.changed);
  // The event of a service does not follow every start; the list of observers does.
  const isWhole = observers.loading.phase === "whole";
  const used = isWhole ? observers.index.runningOn(service.id) : service.running;
  return (
    <div className={css.service}>
      <Link href={`/observers?service=${encodeURIComponent(service.name)}`} className={css.name}>
        {service.name}
      </Link>
      <span className={css.state}>{service.state === "Alive" ? service.pool : <StateMark state={service.state} />}</span>
      <span className={`${css.count} figures`}>
        {used} / {service.workerCount}
      </span>
      <div className={css.bar}>
        <WorkersBar used={used} total={service.workerCount} label={service.name} />
      </div>
    </div>
  );
}
