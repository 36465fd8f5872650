import { MAX_BUNDLE, type StartTask, type TaskId } from "@unacked/contracts";

/** Well below what brokers take as one message, and a slot as one frame. */
const MAX_BYTES = 2_097_152;

/** The tasks of one message: of one pool and type, in the order in which they were claimed. */
export interface Bundle {
  readonly tasks: readonly [StartTask, ...StartTask[]];
  /** One worker runs them one after the other: a lane. */
  readonly inTurn: boolean;
}

export interface Claimed {
  task: StartTask;
  /** It was never sent before. */
  isFirstSend: boolean;
  /** Nothing that it was in was interrupted, as far as is known, and it did not come back too often from services that have gone. */
  isUnhurt: boolean;
  /** The first task of its lane. Of a type that is limited, the tasks of a lane run in turn, and count as one. */
  lane?: TaskId;
  /** So many of its type may run at once; given with `lane` alone. */
  maxRunning?: number;
}

/** What is known of a type in a pool. */
export interface TypePace {
  /** How long its tasks take, as a mean; null: too few have run. */
  meanMs: number | null;
  /** So many are given to one call; null: one. */
  batchSize: number | null;
}

interface Open {
  tasks: [StartTask, ...StartTask[]];
  inTurn: boolean;
  bytes: number;
}

/**
 * Short tasks travel together: a message costs more than they do. A task goes alone if it was sent before (it may be what ends services),
 * or if too little is known of its type. Of a type that takes batches so many travel together as one call takes, as often as they are sent;
 * only what was hurt goes alone. A task that joined a lane travels with the lane's first, which stands before it.
 * @param waitMs one worker alone may work so long on a bundle
 * @param areBusy no worker is free
 * @returns also the tasks that found no place in the message of their lane
 */
export function bundlesOf(
  claimed: readonly Claimed[],
  paceOf: (type: string) => TypePace | undefined,
  waitMs: number,
  areBusy: boolean,
): { bundles: Bundle[]; left: StartTask[] } {
  const bundles: Open[] = [];
  const open = new Map<string, Open>();
  const left: StartTask[] = [];
  const joined = new Set(claimed.flatMap((one) => (follows(one) ? one.lane : [])));
  for (const one of claimed) {
    const { task, lane } = one;
    const inTurn = lane !== undefined && joined.has(lane);
    const size = inTurn ? MAX_BUNDLE : sizeFor(one, paceOf(task.type), waitMs, areBusy);
    const bytes = size > 1 ? Buffer.byteLength(JSON.stringify([task.params, task.inputs])) : 0;
    const key = inTurn ? lane : task.type;
    const bundle = size > 1 ? open.get(key) : undefined;
    if (bundle !== undefined && bundle.tasks.length < size && bundle.bytes + bytes <= MAX_BYTES) {
      bundle.tasks.push(task);
      bundle.bytes += bytes;
      continue;
    }
    if (inTurn && follows(one)) {
      left.push(task);
      continue;
    }
    const begun: Open = { tasks: [task], inTurn, bytes };
    bundles.push(begun);
    if (size > 1) open.set(key, begun);
  }
  return { bundles, left };
}

const follows = ({ task, lane }: Claimed): boolean => lane !== undefined && lane !== task.taskId;

/** How many may join the lane that this one begins, if the last may wait so long. */
export function joinersOf(claimed: Claimed, pace: TypePace | undefined, waitMs: number): number {
  const leads = claimed.lane === claimed.task.taskId && pace?.batchSize == null && isNew(claimed);
  return leads ? bundleSize(pace?.meanMs, waitMs) - 1 : 0;
}

/** It may be given to one call with others of its type. */
export const isBatched = ({ task, isUnhurt }: Claimed, pace: TypePace | undefined): boolean =>
  pace?.batchSize != null && isUnhurt && task.alone !== true;

function sizeFor(claimed: Claimed, pace: TypePace | undefined, waitMs: number, areBusy: boolean): number {
  if (pace?.batchSize != null) return isBatched(claimed, pace) ? pace.batchSize : 1;
  return isNew(claimed) ? bundleSize(pace?.meanMs, waitMs, areBusy) : 1;
}

const isNew = ({ isFirstSend, task }: Claimed): boolean => isFirstSend && task.alone !== true;

export function countByType(of: readonly { task: { type: string } }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { task } of of) counts.set(task.type, (counts.get(task.type) ?? 0) + 1);
  return counts;
}

/** How many workers so many of each type take: one for each call. @param batches how many tasks a call takes, of types that take batches */
export function callsOf(counts: ReadonlyMap<string, number>, batches: ReadonlyMap<string, number>): number {
  return [...counts].reduce((calls, [type, count]) => calls + Math.ceil(count / (batches.get(type) ?? 1)), 0);
}

/**
 * How many tasks of that mean one worker works off within `waitMs`. Where no worker is free, it is one more: with a single task that takes
 * a little less than `waitMs`, each worker would wait between two until an end is in the broker's hands, and the next one here.
 */
export function bundleSize(meanMs: number | null | undefined, waitMs: number, areBusy = false): number {
  if (meanMs == null) return 1;
  const turns = Math.floor(waitMs / Math.max(meanMs, 0.001));
  return Math.max(1, Math.min(MAX_BUNDLE, areBusy ? turns + 1 : turns));
}
