import type { ServiceView } from "@unacked/contracts";
import { useState } from "react";
import { useLive, useSignal } from "../../live/use-live.ts";
import { useUsedOf } from "../../live/use-used-of.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { sayMany } from "../../parts/say.ts";
import { useNotices } from "../../shell/notices.tsx";
import { freeElsewhere, unservedElsewhere } from "../../store/free-elsewhere.ts";
import { drainService } from "../../wire/actions.ts";

/** Asks before a service is drained, and says who would take over. What the manager has against it is told here. */
export function DrainDialog({ service, onClose }: { service: ServiceView; onClose: () => void }) {
  const { services, observers } = useLive();
  useSignal(services.changed);
  // Once: of a hundred thousand that change by the second nobody looks through all each time.
  const [running] = useState(() => observers.index.typesOn(service.id));
  const usedOf = useUsedOf();
  const { say } = useNotices();
  const used = usedOf(service);
  const free = freeElsewhere(service, services.living(), usedOf);
  const unserved = unservedElsewhere(service, services.living(), running);
  const drain = async () => {
    await drainService(service.id); // what becomes of it, the stream tells
    say("done", `${service.name} is draining.`);
    onClose();
  };
  return (
    <ConfirmDialog title={`Drain ${service.name}?`} verb="Drain" isDangerous onConfirm={drain} onClose={onClose}>
      <p>
        It takes nothing new. {movesText(used)} {freeText(free, service.pool)}
      </p>
      {used > free && (
        <p>
          <strong>{sayMany(used - free, "observer")} would wait until a worker is free.</strong>
        </p>
      )}
      {unserved.map(({ type, count }) => (
        <p key={type}>
          <strong>
            {sayMany(count, "observer")} of type {type} would wait: no other service of pool {service.pool} has it.
          </strong>
        </p>
      ))}
      <p>It stays, idle, until its process is ended or it is uncordoned; the next process takes work again.</p>
    </ConfirmDialog>
  );
}

function movesText(used: number): string {
  if (used === 0) return "Nothing runs on it.";
  return used === 1
    ? "Its observer is stopped and runs elsewhere."
    : `Its ${sayMany(used, "observer")} are stopped, and run elsewhere.`;
}

const freeText = (free: number, pool: string): string =>
  `The other services of pool ${pool} have ${free === 0 ? "no free worker" : sayMany(free, "free worker")}.`;
