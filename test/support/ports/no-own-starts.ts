import type { OwnStarts } from "../../../services/observer-manager/src/operations/commands/own-starts.ts";

/** Where nobody sends: all starts are due. */
export const NO_OWN_STARTS: OwnStarts = { claim: () => undefined, send: () => undefined };
