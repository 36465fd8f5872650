import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Of the pipe that the command prints into. */
export type OutputSeen = {
  /** Bytes that have come out of it so far. */
  readonly bytes: () => number;
  /** Whether the lines of all that came out have been handed on. */
  readonly isHandedOn: () => boolean;
};

export type CheckpointFile = {
  readonly path: string;
  /** Where it is, so that whoever outlives this process can take it away. */
  readonly folder: string;
  /** All output has been handed on: what stands in the file is handed over to be saved, if it was not. */
  finish(): void;
  /** Nothing more is saved, and the file is gone. */
  remove(): void;
};

const lookEveryMs = 250;
const triesALook = 20;
/** As much as a checkpoint may have. What is larger is not even read. */
const maxBytes = 65_536;
/** More than a pipe holds: with so much read since, what was in it then has been read, however fast the command prints. */
const moreThanAPipeBytes = 4_194_304;

/**
 * A file that a command replaces to save where it has got to. Looked at four times a second. What it holds is saved only behind the lines that
 * had been printed by then: when the pipe has been found empty since, or so much has been read that it must have been.
 *
 * @param before what was saved last, with which the file begins; there is none if nothing was
 * @param save logs by itself what it could not save
 * @param complain of a file that cannot be a checkpoint; once for each that is found
 */
export function createCheckpointFile(
  before: string | undefined,
  seen: OutputSeen,
  save: (text: string) => Promise<void>,
  complain: (why: string) => void,
): CheckpointFile {
  const folder = mkdtempSync(join(tmpdir(), "unacked-checkpoint-"));
  const path = join(folder, "checkpoint");
  try {
    if (before !== undefined) writeFileSync(path, before);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  let version = versionOf(path);
  let lastText = before;
  let found: { text: string; atBytes: number } | undefined;

  const read = () => {
    const now = versionOf(path);
    if (now === undefined || now === version) return;
    version = now;
    const flaw = flawOf(path);
    if (flaw !== undefined) return complain(`its checkpoint file is not saved: ${flaw}`);
    const text = readFileSync(path, "utf8");
    found ??= { text, atBytes: seen.bytes() };
    if (found.text !== text) version = undefined; // its turn comes when that has been saved
  };
  const saveFound = () => {
    const { text } = found ?? {};
    found = undefined;
    if (text === undefined || text === lastText) return;
    lastText = text;
    save(text).catch(() => undefined);
  };
  /** Between a timer, or an immediate, and the next immediate the pipe is read, if there is anything in it. */
  const saveOnceQuiet = (tries: number) => {
    const bytes = seen.bytes();
    setImmediate(() => {
      if (found === undefined) return;
      const isQuiet = seen.bytes() === bytes && seen.isHandedOn();
      if (isQuiet || bytes - found.atBytes > moreThanAPipeBytes) saveFound();
      else if (tries > 1) saveOnceQuiet(tries - 1);
    });
  };
  const look = () => {
    read();
    if (found !== undefined) saveOnceQuiet(triesALook);
  };
  const timer = setInterval(() => attempt(look), lookEveryMs);

  return {
    path,
    folder,
    finish() {
      clearInterval(timer);
      found = undefined;
      version = undefined;
      attempt(read);
      saveFound();
    },
    remove() {
      clearInterval(timer);
      found = undefined;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A file that is just being replaced, or was taken away, is looked at again. */
function attempt(act: () => void): void {
  try {
    act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

/** A pipe would hold up the slot, and whatever runs in it, until somebody writes. */
function flawOf(path: string): string | undefined {
  const stat = statSync(path);
  if (!stat.isFile()) return "it is no file";
  return stat.size > maxBytes ? `it has ${stat.size} bytes, more than ${maxBytes}` : undefined;
}

function versionOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}
