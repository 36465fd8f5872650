import type { AdmittedContext, ObserverContext } from "@unacked/sdk";
import type { ProcessParams } from "./process-params.ts";

/** No more than this of the service's environment reaches a command: the rest holds its passwords. */
const inheritedVariables = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/** All that a command finds in its environment. */
export function environmentOf(
  { params, observer, runId, fencingToken }: ObserverContext<ProcessParams> & AdmittedContext,
  checkpointFile?: string,
): Record<string, string> {
  return {
    ...inheritedEnvironment(),
    UNACKED_OBSERVER_ID: observer.id,
    UNACKED_OBSERVER_NAME: observer.name,
    UNACKED_RUN_ID: runId,
    UNACKED_FENCING_TOKEN: String(fencingToken),
    ...(checkpointFile !== undefined && { UNACKED_CHECKPOINT_FILE: checkpointFile }),
    ...params.env,
  };
}

function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    inheritedVariables.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
