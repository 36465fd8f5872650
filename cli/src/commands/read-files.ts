import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CreateObserver } from "@unacked/contracts";
import { usageFailure } from "../failure.ts";
import { parseAssignment } from "../input/assignments.ts";
import { parseDocuments, type ReadDocument } from "../input/document-text.ts";
import { atRestIn, refuseAtRest, toObservers } from "../input/observer-documents.ts";
import { isScheduleDocument, type ScheduleDocument, toSchedules } from "../input/schedule-documents.ts";
import type { Io } from "../io.ts";
import type { FileOptions } from "./option-sets.ts";

/** Reads the observers of `-f` to create, with `--set` applied and checked. If it throws, nothing has been sent. */
export function readObservers(io: Io, options: FileOptions): CreateObserver[] {
  const { documents, assignments } = readAssigned(io, options);
  const schedule = documents.find(({ value }) => isScheduleDocument(value));
  if (schedule !== undefined)
    throw usageFailure(
      `${schedule.place} is a schedule`,
      "Schedules are set with apply: unacked apply -f FILE. Nothing was sent.",
    );
  const atRest = [...atRestIn(documents)];
  if (atRest.length > 0) throw refuseAtRest(atRest);
  return toObservers(documents, assignments);
}

interface AllRead {
  observers: CreateObserver[];
  /** The observers among them that must not be created, by name, as they would run. */
  atRest: Map<string, string>;
  schedules: ScheduleDocument[];
}

/** Reads the same, to compare it with what exists, and the schedules beside it. */
export function readAll(io: Io, options: FileOptions): AllRead {
  const { documents, assignments } = readAssigned(io, options);
  const isSchedule = ({ value }: ReadDocument): boolean => isScheduleDocument(value);
  const ofObservers = documents.filter((one) => !isSchedule(one));
  return {
    observers: toObservers(ofObservers, assignments),
    atRest: atRestIn(ofObservers),
    schedules: toSchedules(documents.filter(isSchedule), assignments),
  };
}

function readAssigned(io: Io, { filename = [], set = [] }: FileOptions) {
  const assignments = set.map((text) => parseAssignment(text));
  const documents = filename.flatMap((file) => readDocuments(io, file));
  if (documents.length === 0) throw usageFailure(`There is no document in ${filename.join(", ")}`);
  return { documents, assignments };
}

/** Reads all documents of a file, a folder, or (`-`) standard input. */
export function readDocuments(io: Io, file: string): ReadDocument[] {
  if (file === "-") return parseDocuments(io.readInput(), "standard input");
  return readingOf(file, () => {
    if (!statSync(file).isDirectory()) return [file];
    const inside = readdirSync(file).filter((name) => /\.(?:ya?ml|json)$/.test(name));
    return inside.sort().map((name) => join(file, name));
  }).flatMap((path) =>
    parseDocuments(
      readingOf(path, () => readFileSync(path, "utf8")),
      path,
    ),
  );
}

function readingOf<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw usageFailure(isMissing ? `There is no file ${path}` : `${path} cannot be read: ${(error as Error).message}`);
  }
}
