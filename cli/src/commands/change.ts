import { ChangeObserver, type ObserverView, SPEC_FIELD_NAMES, specTag } from "@unacked/contracts";
import type { Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { type Assignment, parseAssignment, withAssignments } from "../input/assignments.ts";
import { parseLabelChange } from "../input/filters.ts";
import { differencesOf } from "../input/observer-difference.ts";
import { checkedObserver } from "../input/observer-documents.ts";
import type { Io } from "../io.ts";
import { differenceLines } from "../output/difference-text.ts";
import { plainLines } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { repeatable } from "./option-sets.ts";

interface ChangeOptions {
  param?: string[];
  label?: string[];
  pool?: string;
  set?: string[];
  queue?: boolean;
  dryRun?: boolean;
}

export function addChange(program: Command, io: Io): void {
  program
    .command("change")
    .summary("change params, labels, retry or pool of an observer")
    .description(
      "Change an observer in place: it keeps its id, name and history. Its run is stopped and started again with the change, unless its type takes new params while it runs. Labels and limits of silence apply at once. What is not given stays as it is. If somebody else changes it at the same moment, nothing is done.",
    )
    .argument("<name>", "its name or id")
    .addOption(repeatable("-p, --param <path=value>", "a param, such as everyMs=500; may be repeated"))
    .addOption(repeatable("--label <key=value>", "a label; without a value (key=) it is removed; may be repeated"))
    .option("--pool <pool>", "the pool of services that may run it")
    .addOption(repeatable("--set <path=value>", "any other field, such as retry.maxAttempts=3; may be repeated"))
    .option("--queue", "when moved to another pool: wait in its queue if no worker is free, instead of being refused")
    .option("--dry-run", "only say what would be changed; exit code 6 if something would be")
    .action((name: string, options: ChangeOptions, self: Command) => change(openSession(io, self), name, options));
}

/** Receives assignments. They are applied to what was read and sent with its version, so that nobody's change is lost. */
async function change(session: Session, ref: string, options: ChangeOptions): Promise<void> {
  const assignments = assignmentsOf(options);
  if (assignments.length === 0) throw usageFailure("What should be changed?", "unacked change NAME --param key=value");
  const observer = await session.api.call("getObserver", { path: { ref } });
  await sendChange(session, observer, wantedOf(observer, assignments), options);
}

/** Sends the version that was read with the change, so that nobody else's change is lost. */
export async function sendChange(
  { api, io }: Session,
  observer: ObserverView,
  wanted: ChangeObserver,
  { queue, dryRun = false }: { queue?: boolean; dryRun?: boolean },
): Promise<void> {
  const differences = differencesOf(observer, wanted);
  const { name, status, outcome } = await api.call(
    "changeObserver",
    {
      path: { ref: observer.id },
      query: { whenFull: queue === true ? "queue" : "reject", dryRun },
      body: wanted,
      ifMatch: specTag(observer),
    },
    { about: `observer ${observer.name}` },
  );
  const said = dryRun && outcome === "changed" ? "would be changed" : outcome;
  io.out(plainLines([`observer ${name} ${said} (${status})`, ...differenceLines(differences)]));
  if (dryRun && outcome === "changed") throw new CliFailure("differs", "1 would be changed");
}

const assignmentsOf = ({ param = [], label = [], pool, set = [] }: ChangeOptions): Assignment[] => [
  ...param.map((text) => parseAssignment(text, ["params"])),
  ...label.map(labelAssignment),
  ...(pool === undefined ? [] : [{ path: ["pool"], value: pool }]),
  ...set.map((text) => parseAssignment(text)),
];

/** A label's key may have dots, which do not separate steps of a path. */
function labelAssignment(text: string): Assignment {
  const [key, value] = parseLabelChange(text);
  return { path: ["labels", key], value };
}

/** The whole value of each field in which something is set. */
function wantedOf(observer: ObserverView, assignments: Assignment[]): ChangeObserver {
  const fields = new Set(assignments.map(({ path }) => path[0]));
  const touched = SPEC_FIELD_NAMES.filter((field) => fields.has(field));
  const before = Object.fromEntries(touched.map((field) => [field, observer[field]]));
  return changeOf(observer, withoutEmptyLabels(withAssignments(before, assignments)));
}

/** Throws a CliFailure if the change is not valid. */
export const changeOf = (observer: ObserverView, given: unknown): ChangeObserver =>
  checkedObserver(ChangeObserver, given, observer.name);

function withoutEmptyLabels(wanted: unknown): unknown {
  const { labels, ...rest } = wanted as { labels?: Record<string, unknown> };
  if (labels === undefined) return wanted;
  return { ...rest, labels: Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== "")) };
}
