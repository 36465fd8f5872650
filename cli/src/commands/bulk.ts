import type { BulkCount, BulkResults } from "@unacked/contracts";
import type { BulkTarget } from "../client/api.ts";
import { outcomeOf } from "../client/call-failure.ts";
import { CliFailure, usageFailure } from "../failure.ts";
import { type ParsedFilter, parseFilters } from "../input/filters.ts";
import { plainLine } from "../output/plain-text.ts";
import type { Session } from "../session.ts";
import type { ResultFormat, SelectionOptions } from "./option-sets.ts";
import { Results } from "./results.ts";
import { findSelected } from "./selected.ts";
import type { Waited } from "./status-wait.ts";

/** What stop and restart have in common. */
export interface BulkChange {
  /** What is said of each: `is being stopped`. */
  done: string;
  dryDone: string;
  send(target: BulkTarget, options: { dryRun: boolean }): Promise<BulkResults | BulkCount>;
}

export interface BulkTargetOptions extends SelectionOptions {
  all?: boolean;
  dryRun?: boolean;
  output: ResultFormat;
}

/** Which ones are meant: names, or a selection. Exactly one of them, so that a forgotten name never means "all". */
export function toTarget(names: string[], { filter, selector, all }: BulkTargetOptions): BulkTarget {
  const parsed: ParsedFilter | undefined = parseFilters(filter, selector);
  const given = [names.length > 0, parsed !== undefined, all === true].filter(Boolean).length;
  if (given !== 1)
    throw usageFailure("Name observers, or select them by --filter, --selector or --all", "Exactly one of these.");
  if (names.length > 0) return { refs: [...new Set(names)] };
  return parsed === undefined ? { all: true } : { filter: parsed };
}

/**
 * What is selected, one by one where somebody wants to know of each (to wait for it, or to print it): by a selection itself
 * the manager only counts.
 */
export async function oneByOne(session: Session, target: BulkTarget): Promise<{ refs: string[] }> {
  return "refs" in target ? target : { refs: (await findSelected(session, target)).map(({ id }) => id) };
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
    const answer = await change.send(target, { dryRun });
    if ("results" in answer) throw new Error("the manager listed what was to be counted");
    tellCount(session, answer, what);
    return [];
  }
  if (target.refs.length === 0) session.io.err("Nothing found.\n");
  const results = new Results(session, { format: options.output, asked: target.refs.length });
  const accepted: Waited[] = [];
  for (const refs of portionsOf(target.refs)) {
    const answer = await change.send({ refs }, { dryRun });
    if (!("results" in answer)) throw new Error("the manager counted what was named");
    for (const result of answer.results) {
      const outcome = outcomeOf(result, result.ref);
      results.tell(outcome, what);
      if (!(outcome instanceof CliFailure)) accepted.push({ id: outcome.id, name: outcome.name });
    }
  }
  results.end();
  return accepted;
}

const MAX_AT_ONCE = 500;

const portionsOf = (refs: string[]): string[][] =>
  Array.from({ length: Math.ceil(refs.length / MAX_AT_ONCE) }, (_, index) =>
    refs.slice(index * MAX_AT_ONCE, (index + 1) * MAX_AT_ONCE),
  );

function tellCount({ io }: Session, { matched, accepted, refused }: BulkCount, what: string): void {
  io.out(plainLine(`${accepted} of ${matched} observers ${what.replace(/^is /, "are ")}`));
  const codes = Object.entries(refused).map(([code, count]) => `${count} ${code}`);
  if (codes.length > 0)
    throw new CliFailure("failed", `${matched - accepted} of ${matched} were refused: ${codes.join(", ")}`);
}
