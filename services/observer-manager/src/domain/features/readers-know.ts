import type { Feature } from "@unacked/contracts";

/** A manager, as it last announced itself. */
export interface ManagerSighting {
  features: readonly string[];
  /** It has not renewed its word for `MANAGER_SILENT_MS`, and has not left. */
  isSilent: boolean;
  /** It consumes the state queue, or stands by to. */
  isConsuming: boolean;
}

/** One look at those that read the state queue. */
export interface ReadersLook {
  atMs: number;
  /** How many the broker counts; null while it cannot be asked. */
  consumers: number | null;
  /** Those that live, and those that went without a word within `MANAGER_GONE_MS`. */
  managers: readonly ManagerSighting[];
}

/** A manager that has not renewed its word for so long does not count any more. */
export const MANAGER_SILENT_MS = 6_000;
/** A manager that has been silent for so long is gone, and the broker has found out: three heartbeats of 10 s. */
export const MANAGER_GONE_MS = 30_000;
/** It is longer than a silent manager counts: one that was killed cannot stand for one of 0.1.0, which announces nothing. */
export const SETTLED_MS = 10_000;
/** A look that is older says nothing about now. */
const LOOK_HOLDS_MS = 5_000;

/**
 * Whether everybody who may read the state queue has understood this feature for a while.
 * @param looks oldest first, back to before `SETTLED_MS`
 */
export function readersKnow(feature: Feature, looks: readonly ReadersLook[], nowMs: number): boolean {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined) return false;
  if (first.atMs > nowMs - SETTLED_MS || last.atMs < nowMs - LOOK_HOLDS_MS) return false;
  return looks.every((look) => allKnow(feature, look));
}

/** Judges by this look alone. A manager that was killed a moment ago still counts in it. */
export function allKnow(feature: string, { consumers, managers }: ReadersLook): boolean {
  if (consumers === null || consumers === 0) return false;
  const living = managers.filter(({ isSilent }) => !isSilent);
  const consuming = living.filter(({ isConsuming }) => isConsuming);
  return consumers <= consuming.length && living.every(({ features }) => features.includes(feature));
}

/**
 * What all readers knew they know until one is seen that may not: being unable to look is no sign of one. Neither is a consumer of a manager
 * whose session has just ended, or whose host has: the broker counts it until it finds out.
 */
export function mayGoOn(feature: string, looks: readonly ReadersLook[]): boolean {
  const { consumers, managers } = looks.at(-1) ?? { consumers: null, managers: [] };
  const knowing = managers.filter(({ features }) => features.includes(feature));
  return (consumers ?? 0) <= knowing.length && managers.every((manager) => manager.isSilent || knowing.includes(manager));
}

/** Whether every living service of a pool has a feature. Without any, the first to come may be an old one. */
export const servicesKnow = (feature: Feature, announced: readonly (readonly string[])[]): boolean =>
  announced.length > 0 && announced.every((features) => features.includes(feature));
