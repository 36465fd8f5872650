import type { Command } from "commander";
import { usageFailure } from "../failure.ts";
import { findKind, type Kind } from "../input/kinds.ts";
import type { Io } from "../io.ts";
import { openSession, type Session } from "../session.ts";
import { changeMany } from "./bulk.ts";
import { eachOf } from "./each-of.ts";
import { stopping } from "./stop.ts";

export function addDelete(program: Command, io: Io): void {
  program
    .command("delete")
    .summary("remove errors or schedules, cancel timers, or stop observers")
    .description(
      "Remove errors that have been dealt with, or cancel timers: a cancelled timer never fires. A schedule is removed with the record of its times; what it has started goes on. For observers this is the same as stop, which has more options.",
    )
    .argument("<kind>", "errors|timers|schedules|observers")
    .argument("<names...>", "ids of errors, timers or schedules; names or ids of observers")
    .option("--force", "for observers: also those that have not started yet, or for which no service answers")
    .action((kind: string, names: string[], options: { force?: boolean }, self: Command) =>
      remove(openSession(io, self), kind, [...new Set(names)], options),
    );
}

async function remove(session: Session, kind: string, names: string[], { force }: { force?: boolean }): Promise<void> {
  const { api } = session;
  const found = findKind(kind);
  if (found === undefined)
    throw usageFailure(`There is no kind "${kind}"`, `To stop observers: unacked stop ${[kind, ...names].join(" ")}`);
  if (found === "errors")
    return eachOf(session, names, async (errorId) => {
      await api.call("deleteError", { path: { errorId } });
      return `error ${errorId} deleted`;
    });
  if (found === "timers")
    return eachOf(session, names, async (timerId) => {
      const { status } = await api.call("cancelTimer", { path: { timerId } });
      return `timer ${timerId} is ${status}`;
    });
  if (found === "schedules")
    return eachOf(session, names, async (scheduleId) => {
      await api.call("deleteSchedule", { path: { scheduleId } });
      return `schedule ${scheduleId} deleted`;
    });
  if (found !== "observers") throw usageFailure(`The ${found} cannot be deleted`, insteadOf(found, names));
  await changeMany(session, { refs: names }, stopping(session, force === true), { output: "lines" });
}

/** Tasks and flows cannot be deleted: the manager removes them by itself some time after they are over. */
function insteadOf(kind: Kind, [first = "", ...others]: string[]): string | undefined {
  if (kind === "tasks") return `To cancel them: unacked cancel ${[first, ...others].join(" ")}`;
  return kind === "flows" ? `To cancel one: unacked flow cancel ${first}` : undefined;
}
