import type { ObserverDefinition } from "@unacked/sdk";
import { LocalHandlers } from "../../../services/observer-service/src/local-handlers.ts";
import { describeType } from "../../../services/observer-service/src/slot/type-catalogue.ts";

/** What runs handlers of this type here, in this process, as `SLOTS=0` has it. */
export function localHandlers<Params>(definition: ObserverDefinition<Params>): LocalHandlers {
  const own = definition as ObserverDefinition;
  const types = new Map([[own.type, own]]);
  return new LocalHandlers({ types, tasks: new Map(), described: [describeType(own)], notOffered: [], broken: [] });
}
