import type { ServiceView } from "@unacked/contracts";
import { useState } from "react";
import { useLive, useSignal } from "../../live/use-live.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { OneOf } from "../../parts/one-of.tsx";
import { sayMany } from "../../parts/say.ts";
import { navigate, useSearch } from "../../shell/navigation.tsx";
import { Balance } from "./balance.tsx";
import { DrainDialog } from "./drain-dialog.tsx";
import { PastBoots } from "./past-boots.tsx";
import { ServiceCard } from "./service-card.tsx";
import { ServiceTable } from "./service-table.tsx";
import css from "./services.module.css";

/** More cards than these nobody looks through: then a table is what one sees first. */
const MANY = 12;

/** As it stands in the address. */
function useLook(services: number): "cards" | "table" {
  const asked = new URLSearchParams(useSearch()).get("view");
  if (asked === "cards" || asked === "table") return asked;
  return services > MANY ? "table" : "cards";
}

export default function Services() {
  const { services } = useLive();
  useSignal(services.changed);
  const living = services.living();
  const look = useLook(living.length);
  // Kept here: the dialog stays while its service ends, and tells what the manager says to that.
  const [asked, setAsked] = useState<ServiceView | null>(null);
  return (
    <>
      <div className={css.head}>
        <h1>Services</h1>
        {services.isRead && <p className={css.total}>{sayMany(living.length, "service")} alive</p>}
        {living.length > 0 && (
          <OneOf
            label="Show them as"
            value={look}
            options={{ cards: "Cards", table: "Table" }}
            onChange={(view) => navigate(`/services?view=${view}`, { replace: true })}
          />
        )}
      </div>
      {!services.isRead && <Pending label="Reading the services" height="14rem" />}
      {services.isRead && living.length === 0 && (
        <div className="panel">
          <Blank title="No service is alive">
            <p>Observers wait until an observer-service starts.</p>
          </Blank>
        </div>
      )}
      {look === "table" && living.length > 0 && <ServiceTable services={living} onDrain={setAsked} />}
      {look === "cards" && (
        <div className={css.cards}>
          {living.map((service) => (
            <ServiceCard key={service.id} service={service} onDrain={() => setAsked(service)} />
          ))}
        </div>
      )}
      {asked !== null && <DrainDialog service={services.get(asked.id) ?? asked} onClose={() => setAsked(null)} />}
      <Balance />
      <PastBoots />
    </>
  );
}
