/** The `TaskTimeoutError` with which an attempt fails whose `timeoutMs` is over. Without a stack: nobody threw it. */
export function taskTimeoutError(timeoutMs: number): Error {
  const error = new Error(`the handler has not settled within ${timeoutMs} ms (timeoutMs)`);
  error.name = "TaskTimeoutError";
  delete error.stack;
  return error;
}
