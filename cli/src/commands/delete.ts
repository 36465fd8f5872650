import type { Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { toKind } from "../input/kinds.ts";
import type { Io } from "../io.ts";
import { failureText } from "../report.ts";
import { openSession, type Session } from "../session.ts";
import { changeMany } from "./bulk.ts";
import { stopping } from "./stop.ts";

export function addDelete(program: Command, io: Io): void {
  program
    .command("delete")
    .summary("remove errors that are dealt with, or stop observers")
    .description("Remove errors that have been dealt with. Of observers it is the same as stop, which can do more.")
    .argument("<kind>", "errors|observers")
    .argument("<names...>", "ids of errors; names or ids of observers")
    .option("--force", "of observers: also what has not started yet, or what nobody answers for")
    .action((kind: string, names: string[], options: { force?: boolean }, self: Command) =>
      remove(openSession(io, self), kind, [...new Set(names)], options),
    );
}

async function remove(session: Session, kind: string, names: string[], { force }: { force?: boolean }): Promise<void> {
  const found = toKind(kind);
  if (found === "errors") return removeErrors(session, names);
  if (found !== "observers") throw usageFailure(`The ${found} cannot be deleted`);
  await changeMany(session, { refs: names }, stopping(session, force === true), { output: "lines" });
}

async function removeErrors({ api, io }: Session, ids: string[]): Promise<void> {
  const refused: CliFailure[] = [];
  for (const id of ids) {
    try {
      await api.deleteError(id);
      io.out(`error ${id} deleted\n`);
    } catch (error) {
      if (!(error instanceof CliFailure) || error.exitKind !== "failed") throw error;
      if (ids.length > 1) io.err(failureText(error));
      refused.push(error);
    }
  }
  if (refused[0] === undefined) return;
  throw ids.length === 1 ? refused[0] : new CliFailure("failed", `${refused.length} of ${ids.length} were refused`);
}
