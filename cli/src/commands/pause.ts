import type { Command } from "commander";
import type { Io } from "../io.ts";
import { openSession, type Session } from "../session.ts";
import { type BulkChange, type BulkWaitOptions, changeUntil } from "./bulk.ts";
import { addSelectionOptions, resultOption } from "./option-sets.ts";

export function addPause(program: Command, io: Io): void {
  const command = program
    .command("pause")
    .summary("end the runs of observers, but keep the observers")
    .description(
      "End the runs of observers, and keep the observers as Paused. Until they are resumed nothing of them runs, and their workers are free.",
    )
    .argument("[names...]", "names or ids");
  addSelectionOptions(command)
    .option("--all", "every observer that is not Deleted")
    .option("--dry-run", "only say what would be done")
    .option("-w, --wait", "wait until all are Paused")
    .option("--timeout <duration>", "how long to wait at most", "30s")
    .addOption(resultOption())
    .action((names: string[], options: BulkWaitOptions, self: Command) => pause(openSession(io, self), names, options));
}

const pause = (session: Session, names: string[], options: BulkWaitOptions): Promise<void> =>
  changeUntil(session, names, { ...pausing(session), wanted: "Paused" }, options);

const pausing = ({ api }: Session): BulkChange => ({
  done: "is being paused",
  dryDone: "would be paused",
  send: (body) => api.call("pauseObservers", { body }),
});
