import type { ProblemCode } from "@unacked/contracts";

/** Problems of every call that asks who its caller is. */
export const GATE_PROBLEMS: ProblemCode[] = [
  ...(["unauthorized", "forbidden", "too-many-requests", "identity-provider-unavailable"] as const),
];
