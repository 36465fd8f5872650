import { EntitySchema } from "typeorm";
import { column, primary } from "./column.ts";

/** One row for each minute, type and boot of a service in which something happened; kept for a day. */
export const RunFiguresTable = new EntitySchema({
  name: "RunFigure",
  tableName: "run_figures",
  columns: {
    /** When the minute begins. */
    at: primary("timestamptz"),
    type: primary("text"),
    serviceId: primary("uuid", "service_id"),
    /** New runs, and later attempts. */
    starts: column("integer"),
    /** Attempts that failed. */
    failures: column("integer"),
    /** Runs that ended through no fault of their own. */
    interruptions: column("integer"),
    emits: column("bigint"),
  },
});
