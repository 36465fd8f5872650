import { PROBLEMS, type ProblemCode, type ProblemDetails, problemType } from "@unacked/contracts";

/** What a manager says against a call of the page, to be said in its stead. */
export function refusal(code: ProblemCode, detail: string, retryAfterS?: number) {
  const { title, status, remedy } = PROBLEMS[code];
  const requestId = "0197d5c0-0000-7000-8000-000000000001";
  const about = { type: problemType(code), title, status, detail, code, remedy } as const;
  const problem: ProblemDetails = { ...about, requestId, ...(retryAfterS !== undefined && { retryAfterS }) };
  const headers: Record<string, string> = { "content-type": "application/problem+json", "x-request-id": requestId };
  if (retryAfterS !== undefined) headers["retry-after"] = String(retryAfterS);
  return { status, headers, body: JSON.stringify(problem) };
}
