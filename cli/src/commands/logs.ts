import type { LogEvent, LogRun, NoLogsReason, ObserverStatus } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { usageFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { errorLine, stackLines } from "../output/errors.ts";
import { type LogFormat, logLine } from "../output/log-lines.ts";
import { plainLine, plainLines } from "../output/plain-text.ts";
import { inWords } from "../output/words.ts";
import { openSession, type Session } from "../session.ts";

const LOG_FORMATS = ["table", "json"] as const satisfies readonly LogFormat[];

interface LogsOptions {
  follow?: boolean;
  tail: number;
  timeout?: string;
  output: LogFormat;
}

export function addLogs(program: Command, io: Io): void {
  program
    .command("logs")
    .summary("show what an observer logged and emitted last")
    .description(
      "Print what an observer logged and emitted last. The service that runs it, or ran it last, is asked. With -f, go on with what comes, also when it moves to another service, until Ctrl-C or until it is over.",
    )
    .argument("<name>", "name or id")
    .option("-f, --follow", "go on with what comes from now on")
    .addOption(new Option("--tail <count>", "how many of the newest").argParser(toCount).default(100))
    .option("--timeout <duration>", "with -f: stop after this long")
    .addOption(
      new Option("-o, --output <format>", "how to print; json is one document a line")
        .choices([...LOG_FORMATS])
        .default("table"),
    )
    .action((name: string, options: LogsOptions, self: Command) => {
      const session = openSession(io, self);
      return options.follow === true ? follow(session, name, options) : show(session, name, options);
    });
}

function toCount(text: string): number {
  const count = Number(text);
  if (/^[0-9]{1,4}$/.test(text) && count <= 1_000) return count;
  throw usageFailure(`--tail must be a number from 0 to 1000, not "${text}"`);
}

async function show({ api, io, paint }: Session, name: string, { tail, output }: LogsOptions): Promise<void> {
  const asked = { path: { ref: name }, query: { limit: tail } };
  const { entries, run, status, reason, lastError } = await api.call("getLogs", asked);
  io.out(entries.map((entry) => logLine({ entry, run }, output, paint)).join(""));
  if (reason !== null) {
    const known = lastError ? [`Its last error: ${errorLine(lastError)}`, ...stackLines(lastError.stack)] : [];
    io.err(plainLines([whyNone(name, status, reason), ...known]));
  } else {
    if (run?.isCurrent === false) io.err(plainLine(`observer ${name} is ${status}: this is of its last run.`));
    if (entries.length === 0 && tail > 0) io.err(plainLine(SAID_NOTHING));
  }
}

async function follow({ api, io, paint }: Session, name: string, { tail, timeout, output }: LogsOptions): Promise<void> {
  const ends = [io.interruption(), ...(timeout === undefined ? [] : [AbortSignal.timeout(parseTimeout(timeout))])];
  let run: LogRun | null = null;
  for await (const event of api.followLogs(name, tail, AbortSignal.any(ends))) {
    if (event.name === "lost") {
      io.err(plainLine(`The connection was lost (${event.why}); trying again.`));
      continue;
    }
    if (event.name === "run") run = event.data;
    if (event.name === "entry") io.out(logLine({ entry: event.data, run }, output, paint));
    else io.err(plainLine(noteOf(name, event)));
  }
}

function noteOf(name: string, event: Exclude<LogEvent, { name: "entry" }>): string {
  switch (event.name) {
    case "run":
      return `observer ${name} on ${event.data.service.name}:`;
    case "omitted":
      return `… ${event.data.count} more were said than can be followed.`;
    case "waiting":
      return whyNone(name, event.data.status, event.data.reason);
    case "end":
      return `observer ${name} is ${event.data.status}.`;
    default:
      return event satisfies never;
  }
}

const WHY_NONE: Record<NoLogsReason, string> = {
  "no-run": "it has not run yet",
  moving: "no service runs it just now",
  "service-gone": "its lines were lost when the service that ran it last ended",
  "not-kept": "the service that ran it last does not keep its lines any more",
  "no-answer": "the service that runs it does not answer; asking again",
};

const SAID_NOTHING =
  'It has logged and emitted nothing. What it prints (console.log) is in the log of its service, as "slot-output".';

const whyNone = (name: string, status: ObserverStatus, reason: NoLogsReason): string =>
  `observer ${name} is ${status}: ${inWords(WHY_NONE, reason)}.`;
