import type { Command } from "commander";
import type { Io } from "../io.ts";
import { openSession, type Session } from "../session.ts";
import { type BulkChange, type BulkTargetOptions, changeChosen } from "./bulk.ts";
import { addSelectionOptions, resultOption } from "./option-sets.ts";

export function addRestart(program: Command, io: Io): void {
  const command = program
    .command("restart")
    .summary("run observers again")
    .description(
      "Run observers again, with all their attempts: a running one where it is, a Failed or Completed one wherever a worker is free. A saved checkpoint stays.",
    )
    .argument("[names...]", "names or ids");
  addSelectionOptions(command)
    .option("--all", "every observer that is not Deleted")
    .option("--dry-run", "only say what would be done")
    .addOption(resultOption())
    .action((names: string[], options: BulkTargetOptions, self: Command) => {
      const session = openSession(io, self);
      return changeChosen(session, names, restarting(session), options);
    });
}

const restarting = ({ api }: Session): BulkChange => ({
  done: "is being restarted",
  dryDone: "would be restarted",
  send: (body) => api.call("restartObservers", { body }),
});
