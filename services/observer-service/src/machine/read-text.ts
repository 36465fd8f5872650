import { readFileSync } from "node:fs";

/** The content of a file, `undefined` if it cannot be read. */
export type ReadText = (path: string) => string | undefined;

/** Reads files of the system; not every machine has every file. */
export const readText: ReadText = (path) => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
};
