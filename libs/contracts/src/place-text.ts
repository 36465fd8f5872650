import type { BrokenFile } from "./messages/broken-file.ts";

// No schemas here, as slots use it: see text-lengths.ts.

/** Writes `FILE:LINE:COLUMN`, which terminals and editors open, or the file alone if no place is known. */
export const placeText = ({ file, place }: Pick<BrokenFile, "file" | "place">): string =>
  place === undefined ? file : `${place.file}:${place.line}:${place.column}`;
