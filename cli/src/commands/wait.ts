import type { ObserverStatus, ObserverView } from "@unacked/contracts";
import type { Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import { parseFilters, toStatus } from "../input/filters.ts";
import { findKind } from "../input/kinds.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import { addSelectionOptions, type SelectionOptions } from "./option-sets.ts";
import { findMatching } from "./selected.ts";
import { waitForStatus } from "./status-wait.ts";
import { waitForEnds } from "./wait-ends.ts";

interface WaitOptions extends SelectionOptions {
  for?: string;
  timeout?: string;
}

export function addWait(program: Command, io: Io): void {
  const command = program
    .command("wait")
    .summary("wait until observers have a status, or tasks and flows are over")
    .description(
      "Wait until all observers that are named or selected have a status. Fails at once when one of them can no longer get it. Without --for: wait until the tasks and flows with these ids are over. Fails if one of them fails.",
    )
    .argument("[names...]", "names or ids of observers; without --for: ids of tasks and flows");
  addSelectionOptions(command)
    .option("--for <status>", "the status of observers, such as Processing, Deleted or Completed")
    .option("--timeout <duration>", "how long to wait at most (default: 30s, and 5m for tasks and flows)")
    .action((names: string[], options: WaitOptions, self: Command) => wait(openSession(io, self), names, options));
}

async function wait(session: Session, names: string[], options: WaitOptions): Promise<void> {
  const filter = parseFilters(options.filter, options.selector);
  if (options.for === undefined && names.length > 0 && filter === undefined)
    return waitForEnds(session, withoutKind(names), parseTimeout(options.timeout ?? "5m"));
  if (options.for === undefined) throw usageFailure("For which status?", "unacked wait NAME --for Processing");
  const wanted = toWanted(options.for);
  const timeoutMs = parseTimeout(options.timeout ?? "30s");
  if (names.length > 0 === (filter !== undefined))
    throw usageFailure("Name observers, or select them by --filter or --selector");
  const found = filter === undefined ? await findNamed(session, names, wanted) : await findMatching(session, filter);
  if (filter !== undefined && found.length === 0 && wanted !== "Deleted") throw NOTHING_SELECTED;
  const say = (name: string) => session.io.out(plainLine(`observer ${name} is ${wanted}`));
  await waitForStatus(session, found, { wanted, timeoutMs, onReached: ({ name }) => say(name) });
}

/** Takes `task ID` and `flow ID`, as `describe` does. */
function withoutKind([first = "", ...rest]: string[]): string[] {
  const kind = findKind(first);
  return rest.length > 0 && (kind === "tasks" || kind === "flows") ? rest : [first, ...rest];
}

/** Guards against a mistyped label: a script would go on as if all of them were Processing. A wait for Deleted succeeds instead. */
const NOTHING_SELECTED = new CliFailure("failed", "No observer is selected: there is none to wait for", {
  code: "nothing-selected",
  remedy: "See: unacked get observers, with the same --filter or --selector.",
});

/** Takes `delete`, as kubectl does, or `status=Failed`, as a filter does. */
function toWanted(text: string): ObserverStatus {
  const plain = text.replace(/^status=/i, "");
  return toStatus(plain.toLowerCase() === "delete" ? "Deleted" : plain) as ObserverStatus;
}

/** A name that no longer exists was deleted, which may be just what is waited for. */
async function findNamed({ api, io }: Session, names: string[], wanted: ObserverStatus): Promise<ObserverView[]> {
  const found: ObserverView[] = [];
  await inParallel(names, async (ref) => {
    try {
      found.push(await api.call("getObserver", { path: { ref } }));
    } catch (error) {
      const isGone = error instanceof CliFailure && error.code === "observer-not-found";
      if (!isGone || wanted !== "Deleted") throw error;
      io.out(plainLine(`observer ${ref} is Deleted`));
    }
  });
  return found;
}
