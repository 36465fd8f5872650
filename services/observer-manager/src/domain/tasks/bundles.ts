import { MAX_BUNDLE, type StartTask } from "@unacked/contracts";

/** So long the last of a bundle waits, where one worker alone works it off. */
const BUNDLE_MS = 100;

/** What travels in one message: of one type, in the order in which they were claimed. */
export type Bundle = readonly [StartTask, ...StartTask[]];

/**
 * Short tasks travel together: a message costs more than they do. Alone goes what was sent before (it may be what ends services)
 * and what is of a type of which too little is known.
 * @param p95MsOf how long tasks of a type take
 */
export function bundlesOf(
  claimed: readonly { task: StartTask; isFirstSend: boolean }[],
  p95MsOf: (type: string) => number | undefined,
): Bundle[] {
  const bundles: [StartTask, ...StartTask[]][] = [];
  const open = new Map<string, [StartTask, ...StartTask[]]>();
  for (const { task, isFirstSend } of claimed) {
    const size = isFirstSend && task.alone !== true ? bundleSize(p95MsOf(task.type)) : 1;
    const bundle = size > 1 ? open.get(task.type) : undefined;
    if (bundle !== undefined && bundle.length < size) {
      bundle.push(task);
      continue;
    }
    const fresh: [StartTask] = [task];
    bundles.push(fresh);
    if (size > 1) open.set(task.type, fresh);
  }
  return bundles;
}

/** How many tasks that take so long travel together. */
export function bundleSize(p95Ms: number | undefined): number {
  if (p95Ms === undefined) return 1;
  return Math.max(1, Math.min(MAX_BUNDLE, Math.floor(BUNDLE_MS / Math.max(p95Ms, 0.001))));
}
