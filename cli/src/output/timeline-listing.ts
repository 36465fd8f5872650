import type { TimelineEntry } from "@unacked/contracts";
import type { Colour } from "./colours.ts";
import type { Listing } from "./listing.ts";
import { plainText } from "./plain-text.ts";

const COLOURS: Record<TimelineEntry["kind"], Colour | undefined> = {
  created: undefined,
  asked: undefined,
  started: "green",
  "attempt-failed": "red",
  silent: "red",
  heard: "green",
  updated: "green",
  rejected: "red",
  ended: "yellow",
};

/** Writes an event in words: `ended: service-gone`, `asked: observer.pause`. */
const whatOf = ({ kind, action, reason, attempt }: TimelineEntry): string => {
  if (kind === "attempt-failed") return `attempt ${attempt ?? ""} failed`;
  const more = action ?? reason;
  return more === null ? kind : `${kind}: ${more}`;
};

export const TIMELINE_LISTING: Listing<TimelineEntry> = {
  nameOf: ({ at, kind }) => `${at} ${kind}`,
  columns: [
    { heading: "AT", cell: ({ at }) => at },
    {
      heading: "WHAT",
      cell: (entry) => {
        const colour = COLOURS[entry.kind];
        return { text: whatOf(entry), ...(colour !== undefined && { colour }) };
      },
    },
    { heading: "RUN", cell: ({ run }) => (run === null ? "" : String(run.runNumber)), alignsRight: true },
    { heading: "SERVICE", cell: ({ service }) => (service === null ? "" : (service.name ?? service.id)) },
    { heading: "BY", cell: ({ by }) => by ?? "" },
    { heading: "DETAIL", cell: ({ text }) => plainText(text ?? "") },
  ],
};
