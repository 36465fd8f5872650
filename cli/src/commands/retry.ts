import type { Command } from "commander";
import { asRefusal } from "../failure.ts";
import type { Io } from "../io.ts";
import { openSession } from "../session.ts";
import { type ResultFormat, resultOption } from "./option-sets.ts";
import { Results } from "./results.ts";

export function addRetry(program: Command, io: Io): void {
  program
    .command("retry")
    .summary("restart the observers that failed with these errors")
    .description(
      "Restart the observers that failed with these errors. To restart all that failed for the same reason: unacked restart --filter errorGroup=GROUP, with a group of `get failures`.",
    )
    .argument("<ids...>", "ids of errors, as `unacked get errors` lists them")
    .addOption(resultOption())
    .action(async (ids: string[], options: { output: ResultFormat }, self: Command) => {
      const session = openSession(io, self);
      const results = new Results(session, { format: options.output, asked: ids.length });
      await results.during(async () => {
        for (const errorId of ids) {
          const outcome = await session.api.call("retryError", { path: { errorId } }).catch(asRefusal);
          results.tell(outcome, "is being restarted");
        }
      });
    });
}
