/** The `SilentError` with which an attempt fails that was silent for `forMs` milliseconds. Without a stack: nobody threw it. */
export function silentError(forMs: number): Error {
  const error = new Error(`silent for ${Math.round(forMs / 1_000)} s: it neither emitted nor said ctx.alive()`);
  error.name = "SilentError";
  delete error.stack;
  return error;
}
