import { z } from "zod";
import { ObserverView, ofWhole } from "./rest.ts";

/** What lists show of an observer: all by which one is found, sorted and told from others. */
const LISTED = ObserverView.pick({
  id: true,
  name: true,
  type: true,
  pool: true,
  labels: true,
  status: true,
  pending: true,
  silentSince: true,
  service: true,
  runNumber: true,
  restartsLately: true,
  attempts: true,
  lastError: true,
  createdAt: true,
  modifiedAt: true,
});
export type ListedObserver = z.infer<typeof LISTED>;

const { shape } = LISTED;
type Columns = { [Name in keyof typeof shape]: z.ZodArray<(typeof shape)[Name]> };

/**
 * The names of what is listed, each field's values in the order of the page. A field is named once and not once a row, and what is read of each
 * is less: ten times as many observers cost what the list takes for theirs.
 */
export const ObserverColumns = z
  .object({
    columns: z
      .object(Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, z.array(field)])) as Columns)
      .describe("each field of the list with the values of all, in one order"),
    ...ofWhole,
  })
  .meta({ id: "ObserverColumns" });
export type ObserverColumns = z.infer<typeof ObserverColumns>;

export const LISTED_FIELDS = Object.keys(shape) as (keyof ListedObserver)[];
