import type { ErrorEntry, ErrorGroup } from "@unacked/contracts";
import { ageOf } from "./durations.ts";
import { type Listing, MAX_MESSAGE } from "./listing.ts";
import { plainText, shortened } from "./plain-text.ts";

export const ERROR_LISTING: Listing<ErrorEntry> = {
  nameOf: (error) => error.id,
  columns: [
    { heading: "ID", cell: ({ id }) => id },
    { heading: "REASON", cell: ({ reason }) => reason },
    { heading: "AGE", cell: ({ at }, nowMs) => ageOf(at, nowMs) },
    { heading: "DETAIL", cell: ({ detail }) => shortened(plainText(detail), MAX_MESSAGE) },
    { heading: "OBSERVER", cell: ({ observerId, observerName }) => observerName ?? observerId ?? "" },
    { heading: "GROUP", cell: ({ group }) => group, isWide: true },
    { heading: "QUEUE", cell: ({ queue }) => queue, isWide: true },
    { heading: "REPORTER", cell: ({ reporter }) => reporter, isWide: true },
    { heading: "BYTES", cell: ({ bodyBytes }) => String(bodyBytes), isWide: true, alignsRight: true },
  ],
};

export const ERROR_GROUP_LISTING: Listing<ErrorGroup> = {
  nameOf: ({ group }) => group,
  columns: [
    { heading: "COUNT", cell: ({ count }) => String(count), alignsRight: true },
    { heading: "REASON", cell: ({ reason }) => reason },
    { heading: "FIRST", cell: ({ firstSeenAt }, nowMs) => `${ageOf(firstSeenAt, nowMs)} ago` },
    { heading: "LAST", cell: ({ lastSeenAt }, nowMs) => `${ageOf(lastSeenAt, nowMs)} ago` },
    { heading: "EXAMPLE", cell: ({ exampleId }) => exampleId },
    { heading: "GROUP", cell: ({ group }) => group },
  ],
};
