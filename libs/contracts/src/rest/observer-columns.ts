import { z } from "zod";
import { ObserverView } from "./observers.ts";
import { ofWhole } from "./page.ts";

/** The fields of an observer in lists: all by which one is found, sorted and told from others. */
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
const { service, ...others } = shape;
type Columns = { [Name in keyof typeof others]: z.ZodArray<(typeof others)[Name]> };

/**
 * A list as columns: each field's values in the order of the page. Fields and services are named once, not once a row, and fewer fields are
 * read: ten times as many observers cost what the list takes for theirs.
 */
export const ObserverColumns = z
  .object({
    columns: z
      .object({
        ...(Object.fromEntries(Object.entries(others).map(([name, field]) => [name, z.array(field)])) as Columns),
        service: z.array(z.int().min(0).nullable()).describe("where it runs now: its place in `services`"),
      })
      .describe("each field of the list with the values of all, in one order"),
    services: z.array(service.unwrap()).describe("those on which some of the page run, each once"),
    ...ofWhole,
  })
  .meta({ id: "ObserverColumns" });
export type ObserverColumns = z.infer<typeof ObserverColumns>;

export const LISTED_FIELDS = Object.keys(shape) as (keyof ListedObserver)[];
