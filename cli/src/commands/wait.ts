import type { ObserverStatus, ObserverView } from "@unacked/contracts";
import type { Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import { parseFilters, toStatus } from "../input/filters.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import { addSelectionOptions, type SelectionOptions } from "./option-sets.ts";
import { findMatching } from "./selected.ts";
import { waitForStatus } from "./status-wait.ts";

interface WaitOptions extends SelectionOptions {
  for: string;
  timeout: string;
}

export function addWait(program: Command, io: Io): void {
  const command = program
    .command("wait")
    .summary("wait until observers have a status")
    .description(
      "Wait until all that are named or selected have a status. Fails at once when one of them can no longer get it.",
    )
    .argument("[names...]", "names or ids");
  addSelectionOptions(command)
    .requiredOption("--for <status>", "the status, such as Processing, Deleted or Completed")
    .option("--timeout <duration>", "how long to wait at most", "30s")
    .action((names: string[], options: WaitOptions, self: Command) => wait(openSession(io, self), names, options));
}

async function wait(session: Session, names: string[], options: WaitOptions): Promise<void> {
  const wanted = toWanted(options.for);
  const timeoutMs = parseTimeout(options.timeout);
  const filter = parseFilters(options.filter, options.selector);
  if (names.length > 0 === (filter !== undefined))
    throw usageFailure("Name observers, or select them by --filter or --selector");
  const found = filter === undefined ? await findNamed(session, names, wanted) : await findMatching(session, filter);
  if (filter !== undefined && found.length === 0 && wanted !== "Deleted") throw NOTHING_SELECTED;
  const say = (name: string) => session.io.out(plainLine(`observer ${name} is ${wanted}`));
  await waitForStatus(session, found, { wanted, timeoutMs, onReached: ({ name }) => say(name) });
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
