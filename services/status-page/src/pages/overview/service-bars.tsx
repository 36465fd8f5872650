import type { ServiceView, Stats } from "@unacked/contracts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { useUsedOf } from "../../live/use-used-of.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { CutName } from "../../parts/cut-name.tsx";
import { ServiceMark } from "../../parts/status-mark.tsx";
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
  const used = useUsedOf()(service);
  const isClosed = service.draining || service.cordoned;
  const isPlain = service.state === "Alive" && !isClosed;
  return (
    <div className={css.service}>
      <Link href={`/observers?service=${encodeURIComponent(service.name)}`} className={css.name} aria-label={service.name}>
        <CutName name={service.name} />
      </Link>
      <span className={css.state}>{isPlain ? service.pool : <ServiceMark service={service} />}</span>
      <span className={`${css.count} figures`}>
        {used} / {service.workerCount}
      </span>
      <div className={css.bar}>
        <WorkersBar used={used} total={service.workerCount} label={service.name} isClosed={isClosed} />
      </div>
    </div>
  );
}
