import { SLOT_DEATH_REASONS, SLOT_PURPOSES } from "@unacked/contracts";
import type { MetricSet } from "@unacked/metrics";
import type { SlotsView } from "../keeper/slots/slot-history.ts";

/** Reads the slots at each scrape; all values are 0 if observers run in the service's own process. */
export function addSlotMetrics(metrics: MetricSet, handlers: Omit<SlotsView, "memory" | "collect">): void {
  const { history } = handlers;
  metrics.gauge({
    name: "unacked_service_slots",
    help: "Processes that run observers here, by what they are for; a spare one is warm and has none yet.",
    labels: { purpose: SLOT_PURPOSES },
    collect: (gauge) => {
      for (const purpose of SLOT_PURPOSES) gauge.set({ purpose }, 0);
      for (const { purpose } of handlers.slots()) gauge.inc({ purpose: purpose as (typeof SLOT_PURPOSES)[number] });
    },
  });
  const ofSlots = (name: string, help: string, read: () => number) =>
    metrics.gauge({ name, help, collect: (gauge) => gauge.set(read()) });
  ofSlots("unacked_service_slot_memory_bytes", "What all slots together have that would be free without them.", () =>
    handlers.slots().reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  );
  ofSlots(
    "unacked_service_slot_lag_seconds",
    "By how much the event loop of the slowest slot was late at the worst, in the last 10 s.",
    () => Math.max(0, ...handlers.slots().map(({ lagMs }) => lagMs)) / 1_000,
  );
  ofSlots(
    "unacked_service_slot_suspects",
    "Observers that were in a slot that died, while nobody knows which of them did it.",
    () => handlers.suspects,
  );
  metrics.counter({
    name: "unacked_service_slot_deaths_total",
    help: "Slots that ended, by why: an observer did it, nobody can be named, for a stop, too much memory, anything else.",
    labels: { reason: SLOT_DEATH_REASONS },
    collect: (counter) => {
      counter.reset();
      for (const reason of SLOT_DEATH_REASONS) counter.inc({ reason }, history.count(reason));
    },
  });
  metrics.counter({
    name: "unacked_service_slot_recycled_runs_total",
    help: "Observers that were in a slot that took too much memory, by type: one that stands out is the one that grows.",
    labels: { type: "the types of the service" },
    collect: (counter) => {
      counter.reset();
      for (const [type, runs] of history.recycled) counter.inc({ type }, runs);
    },
  });
  metrics.counter({
    name: "unacked_service_slots_stuck_total",
    help: "How often a slot's event loop did not turn for STUCK_MS; each time the slot was ended.",
    collect: (counter) => {
      counter.reset();
      counter.inc(history.stuck);
    },
  });
}
