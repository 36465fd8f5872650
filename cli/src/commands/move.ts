import type { Command } from "commander";
import { asRefusal, CliFailure } from "../failure.ts";
import type { Io } from "../io.ts";
import { openSession } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import { Results } from "./results.ts";

export function addMove(program: Command, io: Io): void {
  program
    .command("move")
    .summary("run observers on another service")
    .description(
      "Run observers on another service of their pool. The broker chooses one that has a free worker. The run is stopped first, and begins again there.",
    )
    .argument("<names...>", "names or ids")
    .action(async (names: string[], _: object, self: Command) => {
      const session = openSession(io, self);
      const results = new Results(session, { format: "lines", asked: names.length });
      await inParallel(names, async (ref) => {
        const outcome = await session.api.call("moveObserver", { path: { ref } }).catch(asRefusal);
        results.tell(outcome, outcome instanceof CliFailure ? "" : `leaves ${outcome.service?.name ?? "its service"}`);
      });
      await results.end();
    });
}
