import type { ServiceView } from "@unacked/contracts";
import { useState } from "react";
import { useLive, useSignal } from "../../live/use-live.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { sayMany } from "../../parts/say.ts";
import { DrainDialog } from "./drain-dialog.tsx";
import { PastBoots } from "./past-boots.tsx";
import { ServiceCard } from "./service-card.tsx";
import css from "./services.module.css";

export default function Services() {
  const { services } = useLive();
  useSignal(services.changed);
  const living = services.living();
  // Kept here: the dialog stays while its service ends, and tells what the manager says to that.
  const [asked, setAsked] = useState<ServiceView | null>(null);
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
          <ServiceCard key={service.id} service={service} onDrain={() => setAsked(service)} />
        ))}
      </div>
      {asked !== null && <DrainDialog service={services.get(asked.id) ?? asked} onClose={() => setAsked(null)} />}
      <PastBoots />
    </>
  );
}
