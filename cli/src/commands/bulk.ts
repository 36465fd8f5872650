import {
  type BodyOf,
  type BulkCount,
  type BulkResults,
  looksLikeUuid,
  type ObserverFilter,
  type ObserverStatus,
} from "@unacked/contracts";
import { outcomeOf } from "../client/call-failure.ts";
import { remedyOfCode } from "../client/own-remedies.ts";
import { CliFailure, usageFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import { type ParsedFilter, parseFilters } from "../input/filters.ts";
import { plainLine } from "../output/plain-text.ts";
import type { Session } from "../session.ts";
import type { ResultFormat, SelectionOptions } from "./option-sets.ts";
import { Results } from "./results.ts";
import { findSelected } from "./selected.ts";
import { type Waited, waitForStatus } from "./status-wait.ts";

/** Some, by name or id. */
interface Listed {
  refs: string[];
  /** They were found by a selection: however many they are, they are a list. */
  isSelection?: true;
}

/** Which ones are meant: some, or all that match. */
type BulkTarget = Listed | { filter: ObserverFilter } | { all: true };

/** What stop, pause, resume and restart have in common. */
export interface BulkChange {
  /** What is said of each: `is being stopped`. */
  done: string;
  dryDone: string;
  send(body: BodyOf<"restartObservers">): Promise<BulkResults | BulkCount>;
}

export interface BulkTargetOptions extends SelectionOptions {
  all?: boolean;
  dryRun?: boolean;
  output: ResultFormat;
}

export interface BulkWaitOptions extends BulkTargetOptions {
  wait?: boolean;
  timeout: string;
}

/** Changes what is named or selected, and tells what became of it. */
export async function changeChosen(
  session: Session,
  names: string[],
  change: BulkChange,
  options: BulkTargetOptions,
): Promise<void> {
  const asked = toTarget(names, options);
  await changeMany(session, options.output === "lines" ? asked : await oneByOne(session, asked), change, options);
}

/** Likewise; with --wait, until each that was accepted has the status. Nothing comes of a dry run that could be waited for. */
export async function changeUntil(
  session: Session,
  names: string[],
  { wanted, ...change }: BulkChange & { wanted: ObserverStatus },
  options: BulkWaitOptions,
): Promise<void> {
  const timeoutMs = parseTimeout(options.timeout);
  if (options.wait !== true || options.dryRun === true) return changeChosen(session, names, change, options);
  const accepted = await changeMany(session, await oneByOne(session, toTarget(names, options)), change, options);
  await waitForStatus(session, accepted, {
    wanted,
    timeoutMs,
    onReached: ({ name }) => options.output === "lines" && session.io.out(plainLine(`observer ${name} is ${wanted}`)),
  });
}

/** Names, or a selection: exactly one of them, so that a forgotten name never means "all". */
function toTarget(names: string[], { filter, selector, all }: BulkTargetOptions): BulkTarget {
  const parsed: ParsedFilter | undefined = parseFilters(filter, selector);
  const given = [names.length > 0, parsed !== undefined, all === true].filter(Boolean).length;
  if (given !== 1)
    throw usageFailure("Name observers, or select them by --filter, --selector or --all", "Use exactly one of these.");
  const filterText = names.find((name) => name.includes("="));
  if (filterText !== undefined)
    throw usageFailure(`"${filterText}" is not a name`, `To select by it: --filter ${filterText}`);
  if (names.length > 0) return { refs: [...new Set(names)] };
  return parsed === undefined ? { all: true } : { filter: parsed };
}

/**
 * What is selected, one by one where somebody wants to know of each (to wait for it, or to print it): by a selection itself
 * the manager only counts.
 */
async function oneByOne(session: Session, target: BulkTarget): Promise<Listed> {
  if ("refs" in target) return target;
  return { refs: (await findSelected(session, target)).map(({ id }) => id), isSelection: true };
}

/** Carries it out and tells what became of each. @returns those that were accepted; of a selection none */
export async function changeMany(
  session: Session,
  target: BulkTarget,
  change: BulkChange,
  options: { dryRun?: boolean; output: ResultFormat },
): Promise<Waited[]> {
  const dryRun = options.dryRun === true;
  const what = dryRun ? change.dryDone : change.done;
  if (!("refs" in target)) {
    const answer = await change.send({ ...toBody(target), dryRun });
    if ("results" in answer) throw new Error("the manager listed what was to be counted");
    tellCount(session, answer, what);
    return [];
  }
  const { refs: asked, isSelection } = target;
  const isOne = asked.length === 1 && isSelection !== true;
  const results = new Results(session, { format: options.output, asked: asked.length, isOne });
  if (asked.length === 0) session.io.err("Nothing found.\n");
  const accepted: Waited[] = [];
  await results.during(async () => {
    for (const refs of portionsOf(asked)) {
      const answer = await change.send({ ...toBody({ refs }), dryRun });
      if (!("results" in answer)) throw new Error("the manager counted what was named");
      for (const result of answer.results) {
        const outcome = outcomeOf(result, result.ref);
        results.tell(outcome, what);
        if (!(outcome instanceof CliFailure)) accepted.push({ id: outcome.id, name: outcome.name });
      }
    }
  });
  return accepted;
}

function toBody(target: BulkTarget): object {
  if (!("refs" in target)) return target;
  const ids = target.refs.filter(looksLikeUuid);
  const names = target.refs.filter((ref) => !looksLikeUuid(ref));
  return { ...(ids.length > 0 && { ids }), ...(names.length > 0 && { names }) };
}

const MAX_AT_ONCE = 500;

const portionsOf = (refs: string[]): string[][] =>
  Array.from({ length: Math.ceil(refs.length / MAX_AT_ONCE) }, (_, index) =>
    refs.slice(index * MAX_AT_ONCE, (index + 1) * MAX_AT_ONCE),
  );

function tellCount({ io }: Session, { matched, accepted, refused }: BulkCount, what: string): void {
  io.out(plainLine(`${accepted} of ${matched} observers ${what.replace(/^is /, "are ")}`));
  const counts = Object.entries(refused).map(([code, count]) => `${count} ${code}`);
  if (counts.length === 0) return;
  throw new CliFailure("failed", `${matched - accepted} of ${matched} were refused: ${counts.join(", ")}`, {
    details: Object.keys(refused).flatMap((code) => remedyLine(code, remedyOfCode(code))),
  });
}

const remedyLine = (code: string, remedy = ""): string[] => (remedy === "" ? [] : [`${code}: ${remedy}`]);
