import type { ListedObserver, ObserverStatus, Pending } from "@unacked/contracts";

/** What the page keeps of an observer. A hundred thousand of them are held, so params and retry policy stay with the manager. */
export interface ObserverRow {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly pool: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly status: ObserverStatus;
  readonly pending: Pending | null;
  readonly silentSince: string | null;
  /** As it was when the row was read, until nothing is left of it: then it is 0. */
  readonly restartsLately: number;
  readonly serviceId: string | null;
  readonly serviceName: string | null;
  /** How many runs it has had. */
  readonly runNumber: number;
  /** As in REST: how many attempts its run has begun since it was last well. */
  readonly attempts: number;
  /** `name: message` of its last error. */
  readonly error: string | null;
  /** What errors of one cause have in common. */
  readonly errorGroup: string | null;
  readonly createdAt: string;
  readonly modifiedAt: string;
  /** By the browser's clock. */
  readonly readAtMs: number;
}

const WINDOW_MS = 600_000;

/**
 * Whether some of `restartsLately` is left. Whoever was restarted in the 10 minutes before the row was read was written in them: a row that
 * says so and seems older than that is read by a clock that is ahead of the manager's.
 */
export function hasRestartsLeft({ restartsLately, modifiedAt, readAtMs }: ObserverRow, nowMs: number): boolean {
  if (restartsLately === 0) return false;
  const writtenMs = Date.parse(modifiedAt);
  const sinceMs = readAtMs - writtenMs < WINDOW_MS ? writtenMs : readAtMs;
  return nowMs - sinceMs < WINDOW_MS;
}

export function toRow(view: ListedObserver): ObserverRow {
  return {
    id: view.id,
    name: view.name,
    type: view.type,
    pool: view.pool,
    labels: view.labels,
    status: view.status,
    pending: view.pending,
    silentSince: view.silentSince,
    restartsLately: view.restartsLately,
    runNumber: view.runNumber,
    attempts: view.attempts,
    createdAt: view.createdAt,
    modifiedAt: view.modifiedAt,
    readAtMs: Date.now(),
    serviceId: view.service?.id ?? null,
    serviceName: view.service?.name ?? null,
    errorGroup: view.lastError?.group ?? null,
    error: view.lastError === null ? null : `${view.lastError.name}: ${view.lastError.message}`,
  };
}
