import type { ObserverView, ServiceView } from "@unacked/contracts";
import { stateColour } from "./colours.ts";
import { serviceState } from "./listing.ts";
import { plainText, shortened } from "./plain-text.ts";
import type { Column } from "./table.ts";

export type ShownChange = { kind: "observer"; view: ObserverView } | { kind: "service"; view: ServiceView };

const MAX_MESSAGE = 80;

/** For `unacked watch`: a line a change. */
export const CHANGE_COLUMNS: Column<ShownChange>[] = [
  { heading: "TIME", cell: (_change, nowMs) => new Date(nowMs).toISOString().slice(11, 23) },
  { heading: "NAME", cell: ({ view }) => view.name },
  { heading: "STATUS", cell: statusOf },
  { heading: "SERVICE", cell: (change) => (change.kind === "service" ? "" : (change.view.service?.name ?? "")) },
  { heading: "NOTE", cell: noteOf },
];

function statusOf(change: ShownChange) {
  if (change.kind === "service") return serviceState(change.view);
  const { status } = change.view;
  return { text: status, colour: stateColour(status) };
}

function noteOf(change: ShownChange): string {
  if (change.kind === "service") return `service: ${change.view.running} of ${change.view.workerCount} workers used`;
  const { attempts, lastError, status } = change.view;
  const isTroubled = lastError !== null && (status === "Retrying" || status === "Failed");
  return isTroubled ? shortened(plainText(`attempt ${attempts}: ${lastError.name}: ${lastError.message}`), MAX_MESSAGE) : "";
}
