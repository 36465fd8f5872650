interface Followed {
  acts: Set<() => void>;
  tell(): void;
}

const FOLLOWED = new WeakMap<AbortSignal, Followed>();

/**
 * Calls `act` once when the signal aborts. All followers of a signal share one listener: with more than ten Node warns of a leak on
 * standard error, and an app passes the signal of its end to as many calls as it makes at once. @returns a function that stops following
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const { acts, tell } = FOLLOWED.get(signal) ?? followed(signal);
  if (acts.size === 0) signal.addEventListener("abort", tell);
  acts.add(act);
  return () => {
    if (acts.delete(act) && acts.size === 0) signal.removeEventListener("abort", tell);
  };
}

function followed(signal: AbortSignal): Followed {
  const acts = new Set<() => void>();
  const one: Followed = { acts, tell: () => [...acts].forEach((act) => act()) };
  FOLLOWED.set(signal, one);
  return one;
}
