import {
  type BodyOf,
  type BulkCount,
  type BulkResults,
  looksLikeUuid,
  type ObserverFilter,
  type ObserverStatus,
  type ObserverView,
} from "@unacked/contracts";
import { outcomeOf } from "../client/call-failure.ts";
import { tellOtherKind } from "../client/other-kind.ts";
import { remedyOfCode } from "../client/own-remedies.ts";
import { CliFailure, noneIf, usageFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import { type ParsedFilter, parseFilters } from "../input/filters.ts";
import { plainLine } from "../output/plain-text.ts";
import type { Session } from "../session.ts";
import type { ResultFormat, SelectionOptions } from "./option-sets.ts";
import { Results } from "./results.ts";
import { findSelected, type Selected } from "./selected.ts";
import { waitForStatus } from "./status-wait.ts";

/** A list of observers, by name or id, or found by a selection. */
type Listed = { refs: string[] } | Selected;

/** Which observers are meant: listed ones, or all that match. */
type BulkTarget = Listed | { filter: ObserverFilter } | { all: true };

/** What stop, pause, resume and restart have in common. */
export interface BulkChange {
  /** What is said of each observer, such as `is being stopped`. */
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

/**
 * Does the same. With --wait it waits until each accepted observer has the status. A dry run changes nothing, so it does not
 * wait.
 */
export async function changeUntil(
  session: Session,
  names: string[],
  { wanted, ...change }: BulkChange & { wanted: ObserverStatus },
  options: BulkWaitOptions,
): Promise<void> {
  const timeoutMs = parseTimeout(options.timeout);
  if (options.wait !== true || options.dryRun === true) return changeChosen(session, names, change, options);
  const onReached = ({ name }: ObserverView) =>
    options.output === "lines" && session.io.out(plainLine(`observer ${name} is ${wanted}`));
  await changeMany(session, await oneByOne(session, toTarget(names, options)), change, options, {
    wanted,
    forAll: (accepted) => waitForStatus(session, accepted, { wanted, timeoutMs, onReached }),
  });
}

/** What is waited for once all have been asked, even if some were refused. */
interface Wait {
  wanted: ObserverStatus;
  forAll(accepted: ObserverView[]): Promise<void>;
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
 * Lists what is selected, for callers that wait for each observer or print it. For a selection itself the manager only
 * counts.
 */
async function oneByOne(session: Session, target: BulkTarget): Promise<Listed> {
  if ("refs" in target || "observers" in target) return target;
  return findSelected(session, "filter" in target ? target.filter : {});
}

/** Carries the change out and tells what became of each. A selection that is only counted is not waited for. */
export async function changeMany(
  session: Session,
  target: BulkTarget,
  change: BulkChange,
  options: { dryRun?: boolean; output: ResultFormat },
  wait?: Wait,
): Promise<void> {
  const dryRun = options.dryRun === true;
  const what = dryRun ? change.dryDone : change.done;
  if (!("refs" in target || "observers" in target)) {
    const answer = await change.send({ ...target, dryRun });
    if ("results" in answer) throw new Error("the manager listed what was to be counted");
    return tellCount(session, answer, what);
  }
  await changeListed(session, target, { ...change, done: what }, options, wait);
}

async function changeListed(
  session: Session,
  target: Listed,
  { done, send }: BulkChange,
  { dryRun = false, output }: { dryRun?: boolean; output: ResultFormat },
  wait: Wait | undefined,
): Promise<void> {
  const filter = "refs" in target ? undefined : target.filter;
  const asked =
    "refs" in target
      ? target.refs.map((ref) => ({ ref, name: ref }))
      : target.observers.map(({ id, name }) => ({ ref: id, name }));
  const isOne = asked.length === 1 && filter === undefined;
  const results = new Results(session, { format: output, asked: asked.length, isOne });
  if (asked.length === 0) session.io.err("Nothing found.\n");
  const accepted: ObserverView[] = [];
  const askAll = async (): Promise<void> => {
    for (const some of portionsOf(asked)) {
      const answer = await send({ ...toBody(some), ...(filter && { filter }), dryRun });
      if (!("results" in answer)) throw new Error("the manager counted what was named");
      for (const result of answer.results) {
        const told = outcomeOf(result, result.ref);
        const outcome = told instanceof CliFailure ? await tellOtherKind(session.api, told, result.ref) : told;
        const standing = wait?.wanted === "Deleted" ? await standingOf(session, outcome, result.ref) : outcome;
        if (standing === "gone") results.leave(result.ref, "is Deleted already");
        else results.tell(standing, done);
        if (standing !== "gone" && !(standing instanceof CliFailure)) accepted.push(standing);
      }
      if (filter === undefined) continue;
      const answered = new Set(answer.results.map(({ ref }) => ref));
      for (const { ref, name } of some) if (!answered.has(ref)) results.leave(name, "no longer matches: left as it is");
    }
  };
  await results.during(askAll, wait && (() => wait.forAll(accepted)));
}

/** An observer that somebody else has already stopped is no refusal for a caller who waits until it is Deleted. */
async function standingOf(
  { api }: Session,
  outcome: ObserverView | CliFailure,
  ref: string,
): Promise<ObserverView | CliFailure | "gone"> {
  if (!(outcome instanceof CliFailure)) return outcome;
  if (outcome.code === "already-deleted") return "gone";
  if (outcome.code !== "already-deleting") return outcome;
  return (await api.call("getObserver", { path: { ref } }).catch(noneIf("observer-not-found"))) ?? "gone";
}

function toBody(some: readonly { ref: string }[]): object {
  const refs = some.map(({ ref }) => ref);
  const ids = refs.filter(looksLikeUuid);
  const names = refs.filter((ref) => !looksLikeUuid(ref));
  return { ...(ids.length > 0 && { ids }), ...(names.length > 0 && { names }) };
}

const MAX_AT_ONCE = 500;

const portionsOf = <Item>(all: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(all.length / MAX_AT_ONCE) }, (_, index) =>
    all.slice(index * MAX_AT_ONCE, (index + 1) * MAX_AT_ONCE),
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
