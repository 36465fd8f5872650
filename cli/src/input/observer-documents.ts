import { CreateObserver } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";
import { type Assignment, withAssignments, writePath } from "./assignments.ts";
import type { ReadDocument } from "./document-text.ts";
import { issueText } from "./issue-text.ts";

/** What the books add to an observer. With these it is what `get -o yaml` wrote, and may be created again without them. */
const ADDED_BY_THE_BOOKS = [
  "id",
  "status",
  "pending",
  "silentSince",
  "restartsLately",
  "service",
  "currentRunId",
  "specVersion",
  "observedSpecVersion",
  "rejectedUpdate",
  "revision",
  "runNumber",
  "epoch",
  "fencingToken",
  "waitsFor",
  "attempts",
  "lastError",
  "nextAttemptAt",
  "startProblem",
  "createdAt",
  "modifiedAt",
];

const isView = (value: object): boolean => "revision" in value && "status" in value && "createdAt" in value;

/** Each document as what is to be created, checked by the contract's schema. All that is wrong is told at once, with its place. */
export function toObservers(documents: ReadDocument[], assignments: Assignment[]): CreateObserver[] {
  const flaws: string[] = [];
  const observers = documents.flatMap(({ value, place }) => {
    const parsed = CreateObserver.safeParse(withAssignments(asDefinition(value), assignments));
    if (parsed.success) return [parsed.data];
    flaws.push(...parsed.error.issues.map((issue) => `${place}: ${whereIn(issue.path)}${issueText(issue)}`));
    return [];
  });
  refuseFlaws(flaws);
  refuseDoubles(observers, documents);
  return observers;
}

export function refuseFlaws(flaws: string[]): void {
  if (flaws.length === 0) return;
  throw new CliFailure("usage", flaws.length === 1 ? "A document is wrong" : `${flaws.length} mistakes in the documents`, {
    details: flaws.slice(0, 20),
    remedy: "Nothing was sent.",
  });
}

export const whereIn = (path: PropertyKey[]): string =>
  path.length === 0 ? "" : `${writePath(path as (string | number)[])}: `;

function asDefinition(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(
      ([key, given]) => !ADDED_BY_THE_BOOKS.includes(key) && !((key === "startAt" || key === "silence") && given === null),
    ),
  );
}

function refuseDoubles(observers: CreateObserver[], documents: ReadDocument[]): void {
  const places = new Map<string, string>();
  observers.forEach(({ name }, index) => {
    const [place = "", earlier] = [documents[index]?.place, places.get(name)];
    if (earlier !== undefined) throw new CliFailure("usage", `${place}: ${name} is defined in ${earlier} already`);
    places.set(name, place);
  });
}
