import type { RunCounts } from "@unacked/contracts";
import type { Listing } from "./listing.ts";
import type { Column } from "./table.ts";

/** The counts of runs within some time, of a minute, a type or a service. */
export type FigureRow = RunCounts & { of: string };

const count = (heading: string, of: keyof RunCounts): Column<FigureRow> => ({
  heading,
  cell: (row) => String(row[of]),
  alignsRight: true,
});

export const figureListing = (heading: string): Listing<FigureRow> => ({
  nameOf: ({ of }) => of,
  columns: [
    { heading, cell: ({ of }) => of },
    count("STARTS", "starts"),
    count("FAILURES", "failures"),
    count("INTERRUPTIONS", "interruptions"),
    count("EMITS", "emits"),
  ],
});
