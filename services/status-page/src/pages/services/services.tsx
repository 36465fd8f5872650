import { useLive, useSignal } from "../../live/use-live.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { sayMany } from "../../parts/say.ts";
import { PastBoots } from "./past-boots.tsx";
import { ServiceCard } from "./service-card.tsx";
import css from "./services.module.css";

export default function Services() {
  const { services } = useLive();
  useSignal(services.changed);
  const living = services.living();
  return (
    <>
      <div className={css.head}>
        <h1>Services</h1>
        {services.isRead && <p className={css.total}>{sayMany(living.length, "service")} alive</p>}
      </div>
      {!services.isRead && <Pending label="Reading the services" height="14rem" />}
      {services.isRead && living.length === 0 && (
        <div className="panel">
          <Blank title="No service is alive">
            <p>Observers wait until an observer-service starts.</p>
          </Blank>
        </div>
      )}
      <div className={css.cards}>
        {living.map((service) => (
          <ServiceCard key={service.id} service={service} />
        ))}
      </div>
      <PastBoots />
    </>
  );
}
