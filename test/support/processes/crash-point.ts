import { pathToFileURL } from "node:url";
import { ROOT } from "./processes.ts";

const PRELOAD = pathToFileURL(`${ROOT}/test/fixtures/die-at.mjs`).href;

/** See test/fixtures/die-at.mjs. */
export type CrashPoint = `${"deliver" | "ack" | "publish" | "confirm"} ${string}`;

/**
 * The environment of a process that kills itself with SIGKILL at this point, when it has passed it `after` times.
 * @param having not of a delivery: of a message whose body has this in it
 */
export function diesAt(point: CrashPoint, after = 0, having = ""): Record<string, string> {
  return { NODE_OPTIONS: `--import=${PRELOAD}`, DIE_AT: point, DIE_AFTER: String(after), DIE_HAVING: having };
}
