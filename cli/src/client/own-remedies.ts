import type { AnyProblem } from "@unacked/client";
import { PROBLEMS, type ProblemCode } from "@unacked/contracts";

const GIVE_A_TOKEN =
  "Give a token: --token, UNACKED_TOKEN, or for good: unacked config set-context NAME --url URL --token - (read from standard input). The operator of the manager makes one: unacked token create";

/** `apply` and `flow create` lack the option: their file names the pool. */
const toPool = (pool = ""): string => `--pool ${pool}, or in a file pool: ${pool}`;

type Remedy = (problem: AnyProblem) => string;

/** The catalogue's remedies name calls, options and members of REST. These name commands, options and lines of files instead. */
const REMEDIES: Partial<Record<ProblemCode, Remedy>> = {
  unauthorized: () => GIVE_A_TOKEN,
  forbidden: ({ neededRole, remedy }) =>
    neededRole === undefined
      ? remedy
      : `Ask the operator of the manager for a token of the role ${neededRole}, or a higher one.`,
  "internal-error": ({ remedy, requestId }) => `${remedy} It is ${requestId}.`,
  // The details say it already.
  "invalid-body": () => "",
  "invalid-query": () => "",
  "not-found": () => "Check the address: unacked config view. Do the manager and the command line have the same version?",
  "error-not-found": () => "See: unacked get errors. Entries are removed when they are deleted, or after the retention.",
  "service-not-found": () => "See: unacked get services.",
  "pool-not-found": () => "See the pools that have one: unacked get services.",
  "task-type-not-found": () =>
    "See: unacked get task-types. A type is known while a service has it, a task of it waits, or it is limited.",
  "schedule-not-found": () => "See: unacked get schedules. A schedule that was deleted is forgotten.",
  "key-taken": ({ taskId }) =>
    `${taskId === undefined ? "" : `See: unacked describe task ${taskId}. `}Wait for its end, or say what should happen to it: unacked run --on-conflict.`,
  "flow-not-rerunnable": () =>
    "Begin with the first tasks that have no result, or name none: then all that did not complete runs again.",
  "not-activated": () => "Wait until it is Processing, or stop it with --force.",
  "already-deleting": () => "Wait. If no service answers, stop it with --force.",
  scheduled: () => "unacked describe says when. Stop it and create it again to have it start now.",
  "not-movable": () => "Only what runs can be moved; unacked describe says how it stands.",
  "spec-changed": () => "See below what it is now. Read it again, and send what is still wanted.",
  "checkpoint-changed": () =>
    "See what it is now: unacked checkpoint get. Then set or reset it again, if that is still wanted.",
  "unknown-type": ({ knownPools = [] }) =>
    knownPools.length === 0
      ? "Use one of the known types, or deploy a service that has the type."
      : `Choose a pool that knows it (${toPool(knownPools[0])}), use one of the known types, or deploy a service that has the type.`,
  "pool-not-served": ({ knownPools = [] }) =>
    `${knownPools.length === 0 ? "Start" : `Choose a pool that is served (${toPool(knownPools[0])}), start`} a service with this POOL, or wait in its queue: --queue.`,
  "no-free-worker": () => "Try again later, add a service, or wait in the queue: --queue.",
  "too-many-log-streams": () => "Close some of the streams, or ask without -f.",
};

/** The remedy in terms of the command line. */
export function remedyOf(problem: AnyProblem): string {
  const own = (REMEDIES as Partial<Record<string, Remedy>>)[problem.code];
  const remedy = own === undefined ? problem.remedy : own(problem);
  return problem.retryAfterS === undefined ? remedy : `${remedy} (Retry-After: ${problem.retryAfterS} s)`;
}

/**
 * The remedy where only the code is known, as of many refusals that are counted. Undefined for a code that only a newer
 * manager has.
 */
export function remedyOfCode(code: string): string | undefined {
  if (!Object.hasOwn(PROBLEMS, code)) return undefined;
  const { title, status, remedy } = PROBLEMS[code as ProblemCode];
  return remedyOf({ type: "", title, status, detail: "", code, remedy, requestId: "" });
}
