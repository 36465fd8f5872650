import type { Command } from "commander";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession } from "../session.ts";
import { inParallel } from "./in-parallel.ts";

export function addMove(program: Command, io: Io): void {
  program
    .command("move")
    .summary("run observers on another service")
    .description(
      "Run observers on another service of their pool: any that has a worker free, as the broker chooses. The run is stopped first, and begins again there.",
    )
    .argument("<names...>", "names or ids")
    .action(async (names: string[], _: object, self: Command) => {
      const session = openSession(io, self);
      await inParallel(names, async (name) => {
        const { name: moved, service } = await session.api.moveObserver(name);
        session.io.out(plainLine(`observer ${moved} leaves ${service?.name ?? "its service"}`));
      });
    });
}
