import type { BrokenFile } from "./messages/broken-file.ts";

// Without schemas, as text-lengths.ts: slots use it.

/** `FILE:LINE:COLUMN`, which terminals and editors open; the file alone where no place is known. */
export const placeText = ({ file, place }: Pick<BrokenFile, "file" | "place">): string =>
  place === undefined ? file : `${place.file}:${place.line}:${place.column}`;
