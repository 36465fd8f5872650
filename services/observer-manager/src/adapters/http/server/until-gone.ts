import type { Response } from "express";

/** Aborts when the answer has ended, or the caller has left. */
export function untilGone(response: Response): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once("close", () => gone.abort());
  return gone.signal;
}
