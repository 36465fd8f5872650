/** What an attempt fails of that was silent for as long as it may. Without a stack: nobody threw it. */
export function silentError(forMs: number): Error {
  const error = new Error(`silent for ${Math.round(forMs / 1_000)} s: it neither emitted nor said ctx.alive()`);
  error.name = "SilentError";
  delete error.stack;
  return error;
}
