import type { Command } from "commander";
import type { Io } from "../io.ts";
import { openSession, type Session } from "../session.ts";
import { type BulkChange, type BulkWaitOptions, changeUntil } from "./bulk.ts";
import { addSelectionOptions, resultOption } from "./option-sets.ts";

interface StopOptions extends BulkWaitOptions {
  force?: boolean;
}

export function addStop(program: Command, io: Io): void {
  const command = program
    .command("stop")
    .summary("stop observers for good")
    .description("Stop observers for good: those that are named, or all that are selected. Their names become free.")
    .argument("[names...]", "names or ids");
  addSelectionOptions(command)
    .option("--all", "every observer that is not Deleted")
    .option("--force", "also those that have not started yet, or for which no service answers")
    .option("--dry-run", "only say what would be done")
    .option("-w, --wait", "wait until all are Deleted")
    .option("--timeout <duration>", "how long to wait at most", "30s")
    .addOption(resultOption())
    .action((names: string[], options: StopOptions, self: Command) => stop(openSession(io, self), names, options));
}

const stop = (session: Session, names: string[], options: StopOptions): Promise<void> =>
  changeUntil(session, names, { ...stopping(session, options.force === true), wanted: "Deleted" }, options);

export const stopping = ({ api }: Session, force: boolean): BulkChange => ({
  done: "is being stopped",
  dryDone: "would be stopped",
  send: (body) => api.call("stopObservers", { body: { ...body, force } }),
});
