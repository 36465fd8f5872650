import type { Command } from "commander";
import { parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { type BulkChange, type BulkTargetOptions, changeMany, oneByOne, toTarget } from "./bulk.ts";
import { addSelectionOptions, resultOption } from "./option-sets.ts";
import { waitForStatus } from "./status-wait.ts";

interface StopOptions extends BulkTargetOptions {
  force?: boolean;
  wait?: boolean;
  timeout: string;
}

export function addStop(program: Command, io: Io): void {
  const command = program
    .command("stop")
    .summary("stop observers for good")
    .description("Stop observers for good: those that are named, or all that are selected. Their names are free again.")
    .argument("[names...]", "names or ids");
  addSelectionOptions(command)
    .option("--all", "every observer that is not Deleted")
    .option("--force", "also what has not started yet, or what nobody answers for")
    .option("--dry-run", "say what would be done, and do nothing")
    .option("-w, --wait", "until all are Deleted")
    .option("--timeout <duration>", "how long to wait at most", "30s")
    .addOption(resultOption())
    .action((names: string[], options: StopOptions, self: Command) => stop(openSession(io, self), names, options));
}

async function stop(session: Session, names: string[], options: StopOptions): Promise<void> {
  const timeoutMs = parseTimeout(options.timeout);
  const asked = toTarget(names, options);
  const isWaiting = options.wait === true && options.dryRun !== true;
  const target = isWaiting || options.output !== "lines" ? await oneByOne(session, asked) : asked;
  const accepted = await changeMany(session, target, stopping(session, options.force === true), options);
  if (!isWaiting) return;
  await waitForStatus(session, accepted, {
    wanted: "Deleted",
    timeoutMs,
    onReached: ({ name }) => options.output === "lines" && session.io.out(plainLine(`observer ${name} is Deleted`)),
  });
}

export const stopping = ({ api }: Session, force: boolean): BulkChange => ({
  done: "is being stopped",
  dryDone: "would be stopped",
  send: (target, { dryRun }) => api.stopObservers(target, { dryRun, force }),
});
