import { type State, stateColour } from "./colours.ts";
import { errorLine, type ShownError } from "./errors.ts";
import { shortened } from "./plain-text.ts";
import type { Column } from "./table.ts";

/** How a kind of thing is listed. */
export interface Listing<Row> {
  columns: Column<Row>[];
  /** For `-o name`: what other commands take. */
  nameOf(row: Row): string;
}

/** `key=value,key=value` */
export const pairs = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");

/** Of what is said in a column: characters, before it is cut short. */
export const MAX_MESSAGE = 60;
export const errorText = (error: ShownError | null): string =>
  error === null ? "" : shortened(errorLine(error), MAX_MESSAGE);

export const inState = (state: State) => ({ text: state, colour: stateColour(state) });
