import type { Command } from "commander";
import type { Io } from "../io.ts";
import { openSession, type Session } from "../session.ts";
import { type BulkChange, type BulkTargetOptions, changeChosen } from "./bulk.ts";
import { addSelectionOptions, resultOption } from "./option-sets.ts";

interface ResumeOptions extends BulkTargetOptions {
  queue?: boolean;
}

export function addResume(program: Command, io: Io): void {
  const command = program
    .command("resume")
    .summary("run paused observers again")
    .description(
      "Run paused observers again: from their checkpoint if they have saved one, else from the start. A pause that is still under way is cancelled.",
    )
    .argument("[names...]", "names or ids");
  addSelectionOptions(command)
    .option("--all", "every observer that is not Deleted")
    .option("--queue", "when no worker is free: wait in the queue instead of being refused")
    .option("--dry-run", "only say what would be done")
    .addOption(resultOption())
    .action((names: string[], options: ResumeOptions, self: Command) => {
      const session = openSession(io, self);
      return changeChosen(session, names, resuming(session, options), options);
    });
}

const resuming = ({ api }: Session, { queue }: ResumeOptions): BulkChange => ({
  done: "is being resumed",
  dryDone: "would be resumed",
  send: (body) => api.call("resumeObservers", { body: { ...body, whenFull: queue === true ? "queue" : "reject" } }),
});
