import type { Command } from "commander";
import { parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { type BulkChange, type BulkTargetOptions, changeMany, oneByOne, toTarget } from "./bulk.ts";
import { addSelectionOptions, resultOption } from "./option-sets.ts";
import { waitForStatus } from "./status-wait.ts";

interface PauseOptions extends BulkTargetOptions {
  wait?: boolean;
  timeout: string;
}

export function addPause(program: Command, io: Io): void {
  const command = program
    .command("pause")
    .summary("end the runs of observers, and keep them")
    .description(
      "End the runs of observers and keep them, Paused: nothing of them runs, and their workers are free, until they are resumed.",
    )
    .argument("[names...]", "names or ids");
  addSelectionOptions(command)
    .option("--all", "every observer that is not Deleted")
    .option("--dry-run", "say what would be done, and do nothing")
    .option("-w, --wait", "until all are Paused")
    .option("--timeout <duration>", "how long to wait at most", "30s")
    .addOption(resultOption())
    .action((names: string[], options: PauseOptions, self: Command) => pause(openSession(io, self), names, options));
}

async function pause(session: Session, names: string[], options: PauseOptions): Promise<void> {
  const timeoutMs = parseTimeout(options.timeout);
  const asked = toTarget(names, options);
  const isWaiting = options.wait === true && options.dryRun !== true;
  const target = isWaiting || options.output !== "lines" ? await oneByOne(session, asked) : asked;
  const accepted = await changeMany(session, target, pausing(session), options);
  if (!isWaiting) return;
  await waitForStatus(session, accepted, {
    wanted: "Paused",
    timeoutMs,
    onReached: ({ name }) => options.output === "lines" && session.io.out(plainLine(`observer ${name} is Paused`)),
  });
}

const pausing = ({ api }: Session): BulkChange => ({
  done: "is being paused",
  dryDone: "would be paused",
  send: (target, options) => api.pauseObservers(target, options),
});
