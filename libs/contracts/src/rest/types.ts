import { z } from "zod";
import { BrokenFile } from "../messages/broken-file.ts";
import { ObserverTypeInfo } from "../messages/events.ts";
import { ADDED_LATER } from "./added-later.ts";

/** An observer type that living services announce. While two versions of it live side by side, each has an entry of its own. */
export const TypeView = z
  .object({
    ...ObserverTypeInfo.shape,
    type: z.string(),
    description: z.string(),
    services: z.array(z.string()).describe("names of the living services that have it"),
    pools: z.array(z.string()),
  })
  .meta({ id: "ObserverType" });
export type TypeView = z.infer<typeof TypeView>;

/** A file that living services could not load, and those services. */
export const BrokenFileView = z
  .object({
    ...BrokenFile.shape,
    services: z.array(z.string()).describe("names of the living services that lack its types"),
  })
  .meta({ id: "BrokenObserverFile" });
export type BrokenFileView = z.infer<typeof BrokenFileView>;

export const TypeList = z
  .object({
    items: z.array(TypeView),
    total: z.int(),
    broken: z
      .array(BrokenFileView)
      .describe("files whose types are missing somewhere, and why")
      .register(ADDED_LATER, { means: [] }),
  })
  .meta({ id: "ObserverTypeList" });
export type TypeList = z.infer<typeof TypeList>;
