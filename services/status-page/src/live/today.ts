const LOOK_EVERY_MS = 30_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The day it is by the viewer's clock. */
export const today = (): string => new Date().toDateString();

/** One timer for all who show times: a log has thousands. */
export function followDays(listener: () => void): () => void {
  listeners.add(listener);
  let told = today();
  timer ??= setInterval(() => {
    if (told === today()) return;
    told = today();
    for (const each of listeners) each();
  }, LOOK_EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
