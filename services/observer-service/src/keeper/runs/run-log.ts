import type { Log } from "../../log.ts";
import { traceIdsOf } from "../../wire/attempt.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunFact } from "./run-machine.ts";

/**
 * How many runs of one turn of the event loop are logged one by one. More are one line with their number and this many
 * names.
 */
const ONE_BY_ONE = 5;

type Entry = { run: Pick<LiveRun, "start" | "runId" | "trace">; fact: RunFact };

/**
 * Logs which runs ask, have started and have ended: a line each, unless thousands do at once. Written one by one, their lines would
 * take longer than their starts. Nothing waits longer than until the end of the turn. At level debug each always has its line.
 */
export class RunLog {
  readonly #log: Log;
  #requested: Entry[] = [];
  #started: Entry[] = [];
  #ended: Entry[] = [];
  #isDue = false;

  constructor(log: Log) {
    this.#log = log;
  }

  requested(run: Entry["run"], fact: RunFact): void {
    this.#requested.push({ run, fact });
    this.#flushSoon();
  }

  started(run: Entry["run"], fact: RunFact): void {
    this.#started.push({ run, fact });
    this.#flushSoon();
  }

  ended(run: Entry["run"], fact: RunFact): void {
    this.#ended.push({ run, fact });
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      const [requested, started, ended] = [this.#requested, this.#started, this.#ended];
      this.#requested = [];
      this.#started = [];
      this.#ended = [];
      this.#isDue = false;
      const asking = { one: "run-requested", many: "runs-requested" };
      this.#write(requested, asking, "waits for the manager's admission", "wait for the manager's admission");
      this.#write(started, { one: "run-started", many: "runs-started" }, "has started", "have started");
      const ends = { one: "run-ended", many: "runs-ended" };
      this.#write(ended.filter(isWell), ends, "has ended", "have ended");
      const failed = ended.filter((entry) => !isWell(entry));
      this.#write(failed, ends, "has failed for good", "have failed for good", "warn");
    });
  }

  #write(
    entries: Entry[],
    event: { one: string; many: string },
    hasDone: string,
    haveDone: string,
    level: "info" | "warn" = "info",
  ): void {
    const [first] = entries;
    if (first === undefined) return;
    if (entries.length > ONE_BY_ONE && !this.#log.isLevelEnabled("debug")) {
      const observers = entries.slice(0, ONE_BY_ONE).map(({ run }) => run.start.name);
      const fields = { event: event.many, count: entries.length, observers, ...whyOf(first.fact) };
      return this.#log[level](fields, `${entries.length} runs ${haveDone}`);
    }
    for (const { run, fact } of entries) {
      const { name: observer, type, observerId } = run.start;
      const fields = {
        event: event.one,
        observer,
        type,
        observerId,
        runId: run.runId,
        ...traceIdsOf(run),
        ...detailsOf(fact),
      };
      this.#log[level](fields, `the run ${hasDone}`);
    }
  }
}

const isWell = ({ fact }: Entry): boolean => fact.kind !== "RunFailed";

/** The stack is in the line of the handler that threw. */
const whyOf = (fact: RunFact): object =>
  fact.kind === "RunFailed" ? { error: { name: fact.error.name, message: fact.error.message } } : {};

function detailsOf(fact: RunFact): object {
  if (fact.kind === "RunRequested") return {};
  if (fact.kind === "RunStarted") return { attempt: fact.attempt };
  if (fact.kind === "RunFailed") return { fact: fact.kind, attempts: fact.attempts, ...whyOf(fact) };
  return { fact: fact.kind, ...("reason" in fact && { reason: fact.reason }) };
}
