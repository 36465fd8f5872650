import { type State, stateColour } from "./colours.ts";
import { errorLine, type ShownError } from "./errors.ts";
import { shortened } from "./plain-text.ts";
import type { Column } from "./table.ts";

/** How things of a kind are listed. */
export interface Listing<Row> {
  columns: Column<Row>[];
  /** The name for `-o name`, which other commands take. */
  nameOf(row: Row): string;
}

/** Writes `key=value,key=value`. */
export const pairs = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");

/** The most characters of a message in a column, before it is cut short. */
export const MAX_MESSAGE = 60;
export const errorText = (error: ShownError | null): string =>
  error === null ? "" : shortened(errorLine(error), MAX_MESSAGE);

export const inState = (state: State) => ({ text: state, colour: stateColour(state) });
