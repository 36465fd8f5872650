/** Who follows which signal. */
const FOLLOWERS = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `act` once when the signal aborts. One listener serves all who follow a signal: of one with more than ten Node warns on standard error
 * of a leak, and a handler may well sleep in more places at once. @returns to follow no more
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const acts = FOLLOWERS.get(signal) ?? newFollowers(signal);
  if (acts.size === 0) signal.addEventListener("abort", tell);
  acts.add(act);
  return () => {
    if (acts.delete(act) && acts.size === 0) signal.removeEventListener("abort", tell);
  };
}

function newFollowers(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>();
  FOLLOWERS.set(signal, acts);
  return acts;
}

/** One function for all signals: ten thousand handlers of a process sleep, each on its own. */
function tell(this: AbortSignal): void {
  for (const act of [...(FOLLOWERS.get(this) ?? [])]) act();
}
