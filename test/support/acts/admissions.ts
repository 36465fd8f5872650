/** What a run wrote outside: the checkpoint that it was given as it started, or one that it was told to be saved. */
export interface AdmissionLine {
  observerId: string;
  runId: string;
  fencingToken: number;
  /** Of the checkpoint. */
  n: number;
  kind: "given" | "resolved";
  monotonicNs: bigint;
}

/** An older dump of the books was restored, and until then nobody had told them what was saved since. */
export interface Restore {
  fromNs: bigint;
  toNs: bigint;
}

export interface AdmissionViolation {
  /** `gone-at-restore`: the run that had saved more was gone before the restored books were told of it, the stated exception. */
  invariant: "token-repeated" | "checkpoint-lost" | "gone-at-restore";
  observerId: string;
  detail: string;
}

/**
 * Invariant 11, judged by what handlers wrote and not by what the system says: the token rises strictly with every run of an observer, and none
 * starts below the last checkpoint that resolved before. Attempts of one run have one token.
 */
export function admissionViolations(
  lines: readonly AdmissionLine[],
  restores: readonly Restore[] = [],
): AdmissionViolation[] {
  const byObserver = new Map<string, AdmissionLine[]>();
  for (const line of lines) byObserver.set(line.observerId, [...(byObserver.get(line.observerId) ?? []), line]);
  return [...byObserver].flatMap(([observerId, own]) => violationsOf(observerId, own, restores));
}

function violationsOf(observerId: string, lines: AdmissionLine[], restores: readonly Restore[]): AdmissionViolation[] {
  const found: AdmissionViolation[] = [];
  let newest: AdmissionLine | undefined;
  let saved: AdmissionLine | undefined;
  for (const line of lines.toSorted((a, b) => (a.monotonicNs < b.monotonicNs ? -1 : 1))) {
    if (line.kind === "resolved") {
      if (saved === undefined || line.n > saved.n) saved = line;
      continue;
    }
    const isSameRun = newest?.runId === line.runId && newest.fencingToken === line.fencingToken;
    if (newest !== undefined && !isSameRun && line.fencingToken <= newest.fencingToken)
      found.push({
        invariant: "token-repeated",
        observerId,
        detail: `run ${line.runId} has token ${line.fencingToken}, ${newest.runId} before it ${newest.fencingToken}`,
      });
    if (saved !== undefined && line.n < saved.n) {
      const isGone = restores.some(({ fromNs, toNs }) => line.monotonicNs >= fromNs && line.monotonicNs < toNs);
      found.push({
        invariant: isGone ? "gone-at-restore" : "checkpoint-lost",
        observerId,
        detail: `run ${line.runId} was given ${line.n}, after ${saved.n} was saved by ${saved.runId}`,
      });
      if (isGone) saved = undefined;
    }
    newest = line;
  }
  return found;
}
