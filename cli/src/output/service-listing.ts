import { readableBytes, type ServiceView } from "@unacked/contracts";
import type { Colour } from "./colours.ts";
import { ageOf } from "./durations.ts";
import { inState, type Listing } from "./listing.ts";
import type { Cell } from "./table.ts";

/** Written like kubectl's `Ready,SchedulingDisabled`. */
export function serviceState({ state, draining, drained, cordoned, endedAt, notConsuming }: ServiceView): {
  text: string;
  colour?: Colour | undefined;
} {
  if (cordoned && endedAt === null) return { text: `${state},Cordoned`, colour: "yellow" };
  if (notConsuming !== null && !draining) return { text: `${state},Full`, colour: "yellow" };
  if (!draining || endedAt !== null) return inState(state);
  return { text: `${state},${drained ? "Drained" : "Draining"}`, colour: "yellow" };
}

export const SERVICE_LISTING: Listing<ServiceView> = {
  nameOf: (service) => service.name,
  columns: [
    { heading: "NAME", cell: ({ name }) => name },
    { heading: "STATE", cell: serviceState },
    { heading: "RUNNING", cell: ({ running }) => String(running), alignsRight: true },
    { heading: "WORKERS", cell: ({ workerCount }) => String(workerCount), alignsRight: true },
    { heading: "ROOM", cell: ({ free }) => String(free), alignsRight: true },
    { heading: "TASK WORKERS", cell: ({ tasks }) => String(tasks?.workers ?? ""), alignsRight: true },
    { heading: "POOL", cell: ({ pool }) => pool },
    { heading: "SEEN", cell: ({ lastSeenAt }, nowMs) => ageOf(lastSeenAt, nowMs) },
    { heading: "AGE", cell: ({ startedAt }, nowMs) => ageOf(startedAt, nowMs) },
    { heading: "HOST", cell: ({ host }) => host, isWide: true },
    { heading: "PID", cell: ({ pid }) => String(pid), isWide: true, alignsRight: true },
    { heading: "VERSION", cell: ({ version }) => version, isWide: true },
    { heading: "MEMORY", cell: ({ memoryBytes }) => readableBytes(memoryBytes), isWide: true, alignsRight: true },
    { heading: "LAG", cell: ({ eventLoopLagMs }) => `${Math.round(eventLoopLagMs)}ms`, isWide: true, alignsRight: true },
    { heading: "SLOTS", cell: slotCount, isWide: true },
    { heading: "TYPES", cell: ({ types }) => types.join(","), isWide: true },
    { heading: "TASK TYPES", cell: ({ tasks }) => tasks?.types.join(",") ?? "", isWide: true },
    { heading: "ID", cell: ({ id }) => id, isWide: true },
  ],
};

function slotCount({ slots, slotDeathsLately }: ServiceView): string | Cell {
  if (slotDeathsLately === 0) return slots.length === 0 ? "" : String(slots.length);
  return { text: `${slots.length}, ${slotDeathsLately} died`, colour: "red" };
}
