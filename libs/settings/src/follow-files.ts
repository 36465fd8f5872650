import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

export interface FollowedFiles {
  readonly paths: readonly string[];
  /** Takes the contents, in the order of the paths. If it throws at first, the program ends; later that is a complaint. */
  take(contents: Buffer[]): void;
  /** Called once when a later version cannot be read or taken. The version that was taken before stays in use until then. */
  complain(error: unknown): void;
  /** How often they are looked at. Default 5 s. */
  everyMs?: number | undefined;
  /** Whether files may be missing at first: they are taken once all exist. Default false. */
  mayBeMissing?: boolean;
}

const EVERY_MS = 5_000;

/**
 * Reads files that settings name, and again whenever their contents change, so that tokens and certificates are exchanged
 * without a restart. They are read every few seconds instead of being watched: Kubernetes exchanges a mounted Secret by a
 * link to another folder, which watchers of files do not see. Throws what the first reading throws.
 *
 * @returns ends it
 */
export function followFiles({ paths, take, complain, everyMs = EVERY_MS, mayBeMissing = false }: FollowedFiles): () => void {
  /** The contents at the last look: taken, refused, or (null) unreadable. */
  let seen: Buffer[] | null =
    mayBeMissing && !paths.every((path) => existsSync(path)) ? null : paths.map((path) => readFileSync(path));
  if (seen !== null) take(seen);
  let isEnded = false;
  const look = async () => {
    try {
      const contents = await Promise.all(paths.map((path) => readFile(path)));
      if (isEnded || areEqual(contents, seen)) return;
      seen = contents;
      take(contents);
    } catch (error) {
      const isNews = seen !== null || !isFileError(error);
      if (isFileError(error)) seen = null;
      if (isNews && !isEnded) complain(error);
    }
  };
  let timer: NodeJS.Timeout;
  const lookLater = () => {
    timer = setTimeout(() => void look().then(() => isEnded || lookLater()), everyMs).unref();
  };
  lookLater();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

const areEqual = (some: Buffer[], others: Buffer[] | null): boolean =>
  others !== null && some.every((content, index) => others[index]?.equals(content));

const isFileError = (error: unknown): boolean => error instanceof Error && "syscall" in error;
