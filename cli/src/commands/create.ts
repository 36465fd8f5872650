import { CreateObserver, newUuid, type ObserverView } from "@unacked/contracts";
import type { Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { parseAssignment, withAssignments } from "../input/assignments.ts";
import { parseDuration, parseTimeout } from "../input/duration.ts";
import { parseLabels } from "../input/filters.ts";
import { checkedObserver } from "../input/observer-documents.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { createAll } from "./creation.ts";
import { addFileOptions, type FileOptions, type ResultFormat, repeatable, resultOption } from "./option-sets.ts";
import { readObservers } from "./read-files.ts";
import { creating, repeatWith } from "./repeatable-create.ts";
import { Results } from "./results.ts";
import { waitForStatus } from "./status-wait.ts";

interface CreateOptions extends FileOptions {
  param?: string[];
  label?: string[];
  pool?: string;
  id?: string;
  startAt?: string;
  warnSilent?: string;
  restartSilent?: string;
  queue?: boolean;
  wait?: boolean;
  timeout: string;
  output: ResultFormat;
}

export function addCreate(program: Command, io: Io): void {
  const command = program
    .command("create")
    .summary("create observers, from files or from the command line")
    .description(
      "Create one observer of a type, or all that files define. An observer that exists already is refused; to change it, see apply.",
    )
    .argument("[type]", "the observer type, as `unacked get types` lists them")
    .argument("[name]", "the name of the new observer")
    .addOption(repeatable("-p, --param <path=value>", "a param of the new observer, such as everyMs=500; may be repeated"))
    .addOption(repeatable("--label <key=value>", "a label of the new observer; may be repeated"))
    .option("--pool <pool>", "the pool of services that may run it")
    .option("--id <uuid>", "an id of your own: makes the command safe to repeat")
    .option("--start-at <time>", "when it starts (ISO 8601); it is Scheduled until then")
    .option("--warn-silent <duration>", "warn when it has neither emitted nor said alive() for this long, such as 90s or 5m")
    .option("--restart-silent <duration>", "restart it when it has neither emitted nor said alive() for this long");
  addFileOptions(command)
    .option("--queue", "when no worker is free: wait in the queue instead of being refused")
    .option("-w, --wait", "wait until all are Processing")
    .option("--timeout <duration>", "how long to wait at most", "30s")
    .addOption(resultOption())
    .action((type: string | undefined, name: string | undefined, options: CreateOptions, self: Command) =>
      create(openSession(io, self), toObservers(io, type, name, options), options),
    );
}

async function create(session: Session, observers: CreateObserver[], options: CreateOptions): Promise<void> {
  const timeoutMs = parseTimeout(options.timeout);
  const results = new Results(session, { format: options.output, asked: observers.length });
  const created: ObserverView[] = [];
  const tell = (outcome: ObserverView | CliFailure): void => {
    results.tell(outcome, "created");
    if (!(outcome instanceof CliFailure)) created.push(outcome);
  };
  const remedy = options.filename === undefined && observers[0]?.id !== undefined ? repeatWith(observers[0].id) : REPEAT_ALL;
  const isTold = options.output === "lines";
  const waitForAll = () =>
    waitForStatus(session, created, {
      wanted: "Processing",
      timeoutMs,
      onReached: ({ name, service }) =>
        isTold && session.io.out(plainLine(`observer ${name} is Processing on ${service?.name ?? "-"}`)),
    });
  await results.during(
    () => creating(session, remedy, (signal) => createAll(session, observers, tell, signal)),
    options.wait === true ? waitForAll : undefined,
  );
}

/** The remedy for observers of files, which mostly have no ids. */
const REPEAT_ALL = "Repeat it: what was created is refused then, as its name is taken.";

function toObservers(io: Io, type: string | undefined, name: string | undefined, options: CreateOptions): CreateObserver[] {
  const observers = options.filename === undefined ? [fromWords(type, name, options)] : fromFiles(io, type, options);
  return options.queue === true ? observers.map((each) => ({ ...each, whenFull: "queue" })) : observers;
}

function fromFiles(io: Io, type: string | undefined, options: CreateOptions): CreateObserver[] {
  const given = [
    type,
    options.param,
    options.label,
    options.pool,
    options.id,
    options.startAt,
    options.warnSilent,
    options.restartSilent,
  ].some((each) => each !== undefined);
  if (given)
    throw usageFailure(
      "Give either files (-f) or a type and a name",
      "To set something in all documents of a file, use --set",
    );
  return readObservers(io, options);
}

function silenceOf({ warnSilent, restartSilent }: CreateOptions): Pick<CreateObserver, "silence"> | object {
  if (warnSilent === undefined && restartSilent === undefined) return {};
  return {
    silence: {
      ...(warnSilent !== undefined && { warnAfterMs: parseDuration(warnSilent) }),
      ...(restartSilent !== undefined && { restartAfterMs: parseDuration(restartSilent) }),
    },
  };
}

function fromWords(type: string | undefined, name: string | undefined, options: CreateOptions): CreateObserver {
  if (type === undefined || name === undefined) {
    throw usageFailure("What should be created?", "unacked create TYPE NAME [--param key=value], or unacked create -f FILE");
  }
  const { param = [], set = [], label = [], pool, id = newUuid(), startAt } = options;
  const bare = {
    name,
    type,
    labels: parseLabels(label),
    ...(pool !== undefined && { pool }),
    id,
    ...(startAt !== undefined && { startAt }),
    ...silenceOf(options),
  };
  const assignments = [
    ...param.map((text) => parseAssignment(text, ["params"])),
    ...set.map((text) => parseAssignment(text)),
  ];
  return checkedObserver(CreateObserver, withAssignments(bare, assignments), name);
}
