import { findFigure, findPeer } from "./figures.mjs";
import { summaryOf } from "./statistics.mjs";
import { formatValue } from "./tables.mjs";

/** @typedef {import("./figures.mjs").Results} Results */
/** @typedef {{ figure: string, bound: string, measured: string, met: boolean | null }} Verdict `met` null: not measured */

/** @typedef {Pick<Results, "scenarios">} Measured */

/** What has to hold, each with how it is read from the results. @type {((results: Measured) => Verdict)[]} */
const BOUNDS = [
  againstRaw("10,000 creates → all handlers running", "create.batch-running", { times: 2.5, atLeast: 1_000 }),
  againstRaw("10,000 creates → all Processing in the books", "create.batch-books", { times: 4, atLeast: 1_500 }),
  noSlowerThan("10,000 creates → all handlers running", "create.batch-running", ["BullMQ", "defaults"]),
  againstRaw("kill -9 with 10,000 → all handlers running", "kill.10000-running", { times: 4, atLeast: 800 }),
  fasterThan("kill -9 with 10,000 → all handlers running", "kill.10000-running", ["BullMQ", "defaults"], 50),
  atMost("kill -9 with 10,000 → books right", "kill.10000-books", 1_500),
  atMost("stop of 10,000 → all Deleted", "stop.deleted", 2_000),
  atMost("broker up again → 10,000 running", "broker-restart.after-boot", 3_000),
  atMost("one create at rest, p50", "one-create.rest-p50", 15),
  atMost("one create at rest, p99", "one-create.rest-p99", 60),
  atMost("memory per idle observer over the raw consumer", "hundred-thousand.memory-over-raw", 6, "KB"),
  atLeast("state events sustained", "throughput.state-events", 20_000, "/s"),
  atMost("idle: statements a second beyond one per ServiceAlive", "idle.statements-beyond-alive", 1, "/s"),
  atMost("idle: the manager's share of a core", "idle.manager-cpu", 1, "%"),
  againstOther("10,000 creates with slots → all handlers running", "slots.created", "SLOTS=0", 1.2),
  againstOther("kill -9 with 10,000 in slots → all handlers running", "slots.killed", "SLOTS=0", 1.2),
  atMost("memory per idle observer in a slot over the raw consumer", "slots.memory", 8, "KB"),
  atMost("a slot's start before an author's code: CPU", "slots.start-cpu", 120),
  atMost("a slot before an author's code: memory", "slots.start-memory", 45, "MB"),
];

/**
 * @param {Measured} results
 * @returns {Verdict[]}
 */
export const acceptanceOf = (results) => BOUNDS.map((bound) => bound(results));

const NOT_MEASURED = "not measured";

export const ACCEPTANCE_HEADER = ["figure", "bound", "measured", "met?", "on"];

/** "2026-12-01", or "2026-12-01, quick". @param {Pick<Results, "at" | "options">} results */
export const runOf = ({ at, options }) => `${at.slice(0, 10)}${options.quick ? ", quick" : ""}`;

/** @param {Verdict[]} verdicts @param {string} run see runOf */
export const acceptanceRows = (verdicts, run) =>
  verdicts.map(({ figure, bound, measured, met }) =>
    met === null ? [figure, bound, measured, NOT_MEASURED, "–"] : [figure, bound, measured, met ? "yes" : "NO", run],
  );

/**
 * Of each row the one that was measured last: a run of some scenarios changes theirs alone, and one of long ago none.
 *
 * @param {string[][]} known rows of a page
 * @param {string[][]} fresh rows of a run; of two of one day these
 */
export function newestRows(known, fresh) {
  const byBound = new Map(known.map((row) => [boundOf(row), row]));
  return fresh.map((row) => {
    const before = byBound.get(boundOf(row));
    return before !== undefined && (row[3] === NOT_MEASURED || dateOf(before) > dateOf(row)) ? before : row;
  });
}

/** Without the limit itself, which moves with the raw broker or a peer. @param {string[]} row */
const boundOf = ([figure, bound = ""]) => `${figure} ${bound.split(": ")[0]}`;

/** "" before all others. @param {string[]} row */
const dateOf = ([, , , met, run = ""]) => (met === NOT_MEASURED ? "" : run.slice(0, 10));

/**
 * @param {string} figure
 * @param {string} id
 * @param {number} limit
 * @param {string} [unit]
 * @returns {(results: Measured) => Verdict}
 */
function atMost(figure, id, limit, unit = "ms") {
  const bound = `≤ ${formatValue(limit, unit)}`;
  return (results) => verdict(figure, results, id, bound, (median) => median <= limit);
}

/**
 * @param {string} figure
 * @param {string} id
 * @param {number} limit
 * @param {string} unit
 * @returns {(results: Measured) => Verdict}
 */
function atLeast(figure, id, limit, unit) {
  const bound = `≥ ${formatValue(limit, unit)}`;
  return (results) => verdict(figure, results, id, bound, (median) => median >= limit);
}

/**
 * So many times the raw broker, or so many ms, whichever is larger.
 *
 * @param {string} figure
 * @param {string} id
 * @param {{ times: number, atLeast: number }} bound
 * @returns {(results: Measured) => Verdict}
 */
function againstRaw(figure, id, { times, atLeast: floor }) {
  return (results) => {
    const { raw = [] } = findFigure(results, id) ?? {};
    const limit = Math.max(floor, raw.length === 0 ? 0 : times * summaryOf(raw).median);
    const text = `≤ ${times} × raw or ${formatValue(floor, "ms")}: ${formatValue(limit, "ms")}`;
    return verdict(figure, results, id, text, (median) => median <= limit);
  };
}

/**
 * So many times what stands beside it.
 *
 * @param {string} figure
 * @param {string} id
 * @param {string} other
 * @param {number} times
 * @returns {(results: Measured) => Verdict}
 */
function againstOther(figure, id, other, times) {
  return (results) => {
    const { raw = [], unit = "ms" } = findFigure(results, id) ?? {};
    const limit = raw.length === 0 ? Number.POSITIVE_INFINITY : times * summaryOf(raw).median;
    const text = `≤ ${times} × ${other}${raw.length === 0 ? "" : `: ${formatValue(limit, unit)}`}`;
    return verdict(figure, results, id, text, (median) => median <= limit);
  };
}

/**
 * @param {string} figure
 * @param {string} id
 * @param {[string, string]} peer
 * @returns {(results: Measured) => Verdict}
 */
function noSlowerThan(figure, id, [peer, setting]) {
  return (results) => {
    const theirs = findPeer(findFigure(results, id), peer, setting)?.values ?? [];
    if (theirs.length === 0) return { figure, bound: `≤ ${peer}, ${setting}`, measured: "–", met: null };
    const limit = summaryOf(theirs).median;
    const text = `≤ ${peer}, ${setting}: ${formatValue(limit, "ms")}`;
    return verdict(figure, results, id, text, (median) => median <= limit);
  };
}

/**
 * @param {string} figure
 * @param {string} id
 * @param {[string, string]} peer
 * @param {number} times
 * @returns {(results: Measured) => Verdict}
 */
function fasterThan(figure, id, [peer, setting], times) {
  const bound = `${times} × faster than ${peer}, ${setting}`;
  return (results) => {
    const found = findFigure(results, id);
    const theirs = findPeer(found, peer, setting)?.values ?? [];
    if (!found || theirs.length === 0) return { figure, bound, measured: "–", met: null };
    const faster = summaryOf(theirs).median / summaryOf(found.ours).median;
    return { figure, bound, measured: `${faster.toFixed(0)} ×`, met: faster >= times };
  };
}

/**
 * @param {string} figure
 * @param {Measured} results
 * @param {string} id
 * @param {string} bound
 * @param {(median: number) => boolean} isMet
 * @returns {Verdict}
 */
function verdict(figure, results, id, bound, isMet) {
  const found = findFigure(results, id);
  if (!found || found.ours.length === 0) return { figure, bound, measured: "–", met: null };
  const { median } = summaryOf(found.ours);
  return { figure, bound, measured: formatValue(median, found.unit), met: isMet(median) };
}
