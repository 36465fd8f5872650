import { CreateObserver, OBSERVER_STATUSES, ObserverView, traitsOf } from "@unacked/contracts";
import type { z } from "zod";
import { CliFailure } from "../failure.ts";
import { type Assignment, withAssignments, writePath } from "./assignments.ts";
import type { ReadDocument } from "./document-text.ts";
import { issueText } from "./issue-text.ts";

/** The fields that the manager adds to an observer. `get -o yaml` writes them, and they are left out to create it again. */
const ADDED_BY_THE_BOOKS = Object.keys(ObserverView.shape).filter(
  (field) => field === "id" || !(field in CreateObserver.shape),
);

/** It does not need a `status`, which may have been removed to have the observer run. */
const isView = (value: object): boolean => "revision" in value && "createdAt" in value;

/**
 * Turns each document into an observer to create, checked by the contract's schema. Reports all mistakes at once, with their
 * places.
 */
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

/** Checks one observer, or a change of one, by the schema. Throws a CliFailure with each mistake and its place. */
export function checkedObserver<Schema extends z.ZodType>(schema: Schema, given: unknown, name: string): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys" && issue.path.length === 0)
      return issue.keys.map((key) => `${key}: there is no such field; as a param it is params.${key}`);
    return `${writePath(issue.path as string[]) || "it"}: ${issueText(issue)}`;
  });
  throw new CliFailure("usage", `observer ${name} is not valid`, { details, remedy: "Nothing was sent." });
}

/**
 * The observers, by name with their state, that `get` wrote while they did not run, or were about to stop. Created from that, they
 * would run.
 */
export function atRestIn(documents: ReadDocument[]): Map<string, string> {
  return new Map(
    documents.flatMap(({ value }) => {
      if (typeof value !== "object" || value === null || !isView(value)) return [];
      const { name, ...given } = value as { name?: unknown; status?: unknown; pending?: unknown };
      const how = restOf(given);
      return how !== undefined && typeof name === "string" ? [[name, how] as const] : [];
    }),
  );
}

/** The state as `get observers` shows it. Undefined if the observer was to run. */
function restOf({ status, pending }: { status?: unknown; pending?: unknown }): string | undefined {
  const known = OBSERVER_STATUSES.find((each) => each === status);
  if (known === undefined) return undefined;
  if (["none", "on-hold", "ending"].includes(traitsOf(known).run)) return known;
  return pending === "pause" ? `${known},Pausing` : undefined;
}

/** Says that they would run, and how to create them all the same. */
export const refuseAtRest = (atRest: readonly (readonly [name: string, status: string])[]): CliFailure =>
  new CliFailure(
    "failed",
    "Not created: by their `status` they did not run, or were about to stop, and now they would run",
    {
      code: "at-rest",
      details: atRest.map(([name, status]) => `observer ${name}: ${status}`),
      remedy: "To let one run, remove `status` from its document.",
    },
  );

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
    if (earlier !== undefined) throw new CliFailure("usage", `${place}: ${name} is already defined in ${earlier}`);
    places.set(name, place);
  });
}
