import { PROBLEMS, type ProblemCode, type ProblemDetails, problemType } from "@unacked/contracts";
import type { Refusal } from "./refusal.ts";

/** When a client should come back, in s, for problems that pass by themselves. */
const RETRY_AFTER_S: Partial<Record<ProblemCode, number>> = {
  "no-free-worker": 5,
  "pool-not-served": 5,
  "flows-not-known": 5,
  "admission-not-known": 5,
  "not-ready": 1,
  "logs-unavailable": 2,
  "database-unavailable": 2,
  "batch-interrupted": 2,
  "identity-provider-unavailable": 5,
  "too-many-requests": 60,
  "too-many-log-streams": 5,
};

export function toProblemDetails(refusal: Refusal, requestId: string): ProblemDetails {
  const { code, detail, errors, knownTypes, knownPools, neededRole, taskId, specVersion, differs } = refusal;
  const { status, title } = PROBLEMS[code];
  const remedy = refusal.remedy ?? PROBLEMS[code].remedy;
  const retryAfterS = refusal.retryAfterS ?? RETRY_AFTER_S[code];
  const known = { type: problemType(code), title, status, detail: detail ?? title, code, remedy, requestId };
  return {
    ...known,
    ...(errors && { errors }),
    ...(knownTypes && { knownTypes }),
    ...(knownPools && { knownPools }),
    ...(taskId && { taskId }),
    ...(specVersion !== undefined && { specVersion }),
    ...(differs && { differs }),
    ...(neededRole && { neededRole }),
    ...(retryAfterS !== undefined && { retryAfterS }),
  };
}

/** One of many that was refused, in the form in which it stands in the answer to all. */
export const refusedOne = (refusal: Refusal, requestId: string): { status: number; problem: ProblemDetails } => ({
  status: PROBLEMS[refusal.code].status,
  problem: toProblemDetails(refusal, requestId),
});

/** So many names of known types and pools are told in an answer to many: each of ten thousand may have mistyped, where a thousand are known. */
const MAX_KNOWN_NAMES = 10_000;

/** Does the same for each that was refused in one answer; the first that name the known types and pools do it for all. */
export function refuser(requestId: string): (refusal: Refusal) => ReturnType<typeof refusedOne> {
  let names = 0;
  return (refusal) => {
    const { knownTypes, knownPools, ...others } = refusal;
    const count = (knownTypes?.length ?? 0) + (knownPools?.length ?? 0);
    const areTooMany = names > 0 && names + count > MAX_KNOWN_NAMES;
    if (!areTooMany) names += count;
    return refusedOne(areTooMany ? others : refusal, requestId);
  };
}
