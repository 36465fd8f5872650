import { readFileSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { addApply } from "./commands/apply.ts";
import { addChange } from "./commands/change.ts";
import { addChangeTasks, addPriority, addRetryWith, addTakeBack } from "./commands/change-tasks.ts";
import { addCheckpoint } from "./commands/checkpoint.ts";
import { addCompletion, COMPLETE } from "./commands/completion.ts";
import { addConfig } from "./commands/config.ts";
import { addCordon, addUncordon } from "./commands/cordon.ts";
import { addCreate } from "./commands/create.ts";
import { addDelete } from "./commands/delete.ts";
import { addDescribe } from "./commands/describe.ts";
import { addDev } from "./commands/dev.ts";
import { addDrain } from "./commands/drain.ts";
import { addEdit } from "./commands/edit.ts";
import { addFigures } from "./commands/figures.ts";
import { addFlow } from "./commands/flow.ts";
import { addGet } from "./commands/get.ts";
import { addLimit } from "./commands/limit.ts";
import { addLogs } from "./commands/logs.ts";
import { addMove } from "./commands/move.ts";
import { addPause } from "./commands/pause.ts";
import { addRebalance } from "./commands/rebalance.ts";
import { addReload } from "./commands/reload.ts";
import { addRestart } from "./commands/restart.ts";
import { addResume } from "./commands/resume.ts";
import { addRetry } from "./commands/retry.ts";
import { addRun } from "./commands/run.ts";
import { addSchedule } from "./commands/schedule.ts";
import { addStop } from "./commands/stop.ts";
import { addTimeline } from "./commands/timeline.ts";
import { addTimer } from "./commands/timer.ts";
import { addToken } from "./commands/token.ts";
import { addTop } from "./commands/top.ts";
import { addWait } from "./commands/wait.ts";
import { addWatch } from "./commands/watch.ts";
import { addWhoami } from "./commands/whoami.ts";
import { addWork } from "./commands/work.ts";
import { EXIT_CODES, usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import { whatIsRight } from "./mistyped.ts";
import { reportThrown } from "./report.ts";

/** The whole command line. It is built for every run, as commander keeps what it parsed. */
export function buildProgram(io: Io): Command {
  const program = new Command("unacked")
    .description("Jobs that never end, from the command line: see what runs, create, stop, watch.")
    .version(ownVersion(), "-V, --version")
    .addOption(new Option("--url <address>", "the manager's address"))
    .addOption(new Option("--token <token>", "sent as a bearer token"))
    .addOption(new Option("--certificate-authority <file>", "the authority that signed the manager's certificate (PEM)"))
    .addOption(new Option("--client-certificate <file>", "your own certificate, if the manager asks for one (PEM)"))
    .addOption(new Option("--client-key <file>", "the key of that certificate (PEM)"))
    .addOption(new Option("--context <name>", "the context to use, see config"))
    .addOption(new Option("--request-timeout <duration>", "how long one answer may take").default("30s"))
    .addOption(new Option("--no-color", "no colours, also on a terminal (as with NO_COLOR)"))
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .helpCommand("help [command]", "show what a command does")
    .hook("preAction", (_program, command) => refuseEmpty(command))
    .exitOverride();
  const adders = [
    addGet,
    addDescribe,
    addTimeline,
    addFigures,
    addCreate,
    addRun,
    addFlow,
    addTimer,
    addSchedule,
    addApply,
    addChange,
    addEdit,
    addStop,
    addRestart,
    addPause,
    addResume,
    addWork,
    addRetry,
    addDelete,
    addCheckpoint,
    addDrain,
    addCordon,
    addUncordon,
    addReload,
    addMove,
    addRebalance,
    addChangeTasks,
    addPriority,
    addRetryWith,
    addTakeBack,
    addLimit,
    addLogs,
    addWatch,
    addWait,
    addTop,
    addConfig,
    addToken,
    addWhoami,
    addDev,
    addCompletion,
  ];
  for (const add of adders) add(program, io);
  addHelp(program);
  nameOwnHelp(program, program.name());
  return program;
}

/** Replaces commander's own, which takes one word: its `help flow create` would be the help of `flow`. */
function addHelp(program: Command): void {
  program
    .helpCommand(false)
    .command("help")
    .summary("show what a command does")
    .argument("[command...]", "such as stop, or flow create")
    .action((words: string[]) => {
      let shown = program;
      for (const word of words) {
        const below = shown.commands.find((each) => each.name() === word || each.aliases().includes(word));
        if (below === undefined) return shown.error(`error: unknown command '${word}'`);
        shown = below;
      }
      shown.help();
    });
}

/** Errors of a mistyped command suggest what would be right, and name the help of that command. */
function nameOwnHelp(command: Command, words: string): void {
  command.showHelpAfterError(`(${words} --help tells more)`);
  command.configureOutput({
    outputError(said, write) {
      const right = whatIsRight(command, words, said);
      write(right === undefined ? said : `${said}${right}\n`);
    },
  });
  for (const each of command.commands) nameOwnHelp(each, `${words} ${each.name()}`);
}

/** Runs one command line, reports everything that is to be reported, and returns the exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  try {
    await buildProgram(io).parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
    return EXIT_CODES.ok;
  } catch (error) {
    // Commander has already said what is wrong, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
    return reportThrown(io, error);
  }
}

/**
 * Refuses empty words, which mostly come from an unset shell variable: in a path an empty name would address the whole list, and its
 * answer would look like one of another version. A word to be completed may be empty.
 */
function refuseEmpty(command: Command): void {
  const at = command.name() === COMPLETE ? -1 : command.args.indexOf("");
  if (at === -1) return;
  throw usageFailure(
    `${command.name()}: argument ${at + 1} is empty`,
    "Is a variable of the shell not set? Nothing was sent.",
  );
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
