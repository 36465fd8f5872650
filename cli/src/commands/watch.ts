import type { ObserverView } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { CliFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import { matchesFilter, type ParsedFilter, parseFilters, toQuery } from "../input/filters.ts";
import type { Io } from "../io.ts";
import { CHANGE_COLUMNS, newsOfRuns, newsOfServices, type ShownChange } from "../output/change-columns.ts";
import { jsonText } from "../output/document-text.ts";
import { plainLine } from "../output/plain-text.ts";
import { Table } from "../output/table.ts";
import { openSession, type Session } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import { addSelectionOptions, type SelectionOptions } from "./option-sets.ts";

const WATCH_FORMATS = ["table", "json", "name"] as const;

interface WatchOptions extends SelectionOptions {
  output: (typeof WATCH_FORMATS)[number];
  services?: boolean;
  timeout?: string;
}

export function addWatch(program: Command, io: Io): void {
  const command = program
    .command("watch")
    .summary("follow changes as they happen")
    .description(
      "Print a line for every change from now on, until Ctrl-C: of all observers, or of those that are named or selected.",
    )
    .argument("[names...]", "names or ids");
  addSelectionOptions(command)
    .option("--services", "show changes of services, too")
    .option("--timeout <duration>", "stop after this long")
    .addOption(
      new Option("-o, --output <format>", "how to print; json is one document a line")
        .choices([...WATCH_FORMATS])
        .default("table"),
    )
    .action((names: string[], options: WatchOptions, self: Command) => watch(openSession(io, self), names, options));
}

async function watch(session: Session, names: string[], options: WatchOptions): Promise<void> {
  const { api, io } = session;
  const filter = parseFilters(options.filter, options.selector) ?? {};
  const print = linePrinter(session, options);
  const isTold = newsOfServices();
  const begunRun = newsOfRuns();
  // Ignored here: the stream reports a wrong address or token.
  for (const view of await standing(session, names, filter).catch(() => [])) begunRun(view);
  const ends = [
    io.interruption(),
    ...(options.timeout === undefined ? [] : [AbortSignal.timeout(parseTimeout(options.timeout))]),
  ];
  for await (const news of api.changes(AbortSignal.any(ends))) {
    switch (news.name) {
      case "observer":
        if (isAsked(news.data, names, filter)) print({ kind: "observer", view: news.data, begun: begunRun(news.data) });
        break;
      case "service":
        if (options.services === true && isTold(news.data)) print({ kind: "service", view: news.data });
        break;
      case "ready":
        io.err(plainLine(`Watching ${api.url}.`));
        break;
      case "resync":
        io.err("Some changes were skipped: `unacked get observers` shows how things are.\n");
        break;
      case "lost":
        io.err(plainLine(`The connection was lost (${news.why}); trying again.`));
        break;
      default:
        news satisfies never;
    }
  }
}

const MAX_STANDING = 1_000;

/**
 * Reads the observers that are watched as the watch begins, up to 1,000: a restart shows only in what was before. A name that
 * does not exist may be created later, or is mistyped.
 */
async function standing({ api, io }: Session, names: string[], filter: ParsedFilter): Promise<ObserverView[]> {
  const views: ObserverView[] = [];
  if (names.length === 0)
    for await (const page of api.pages("listObservers", toQuery(filter), MAX_STANDING)) views.push(...page);
  await inParallel(names.slice(0, MAX_STANDING), async (ref) => {
    try {
      views.push(await api.call("getObserver", { path: { ref } }));
    } catch (error) {
      if (error instanceof CliFailure && error.code === "observer-not-found")
        io.err(plainLine(`There is no observer ${ref} now. It is shown when it is created.`));
    }
  });
  return views;
}

/** An id may be typed in capitals, which the manager accepts, too. */
const isAsked = (view: ObserverView, names: string[], filter: ParsedFilter): boolean =>
  (names.length === 0 || names.some((name) => name === view.name || name.toLowerCase() === view.id)) &&
  matchesFilter(view, filter);

function linePrinter({ io, paint }: Session, { output }: WatchOptions): (change: ShownChange) => void {
  if (output === "json") return ({ view }) => io.out(`${jsonText(view)}\n`);
  if (output === "name") return ({ view }) => io.out(plainLine(view.name));
  const table = new Table(CHANGE_COLUMNS, { paint });
  // The rows to come are not known yet. There is room for usual names, so that the columns seldom move.
  const widths = { NAME: 24, STATUS: 14, SERVICE: 20 };
  return (change) =>
    io.out(
      table
        .lines([change], io.nowMs(), widths)
        .map((line) => `${line}\n`)
        .join(""),
    );
}
