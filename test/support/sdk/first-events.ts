import { setTimeout as wait } from "node:timers/promises";
import { type ObserverDefinition, ObserverStopped } from "@unacked/sdk";
import { createRunContext, parseParams, settleRun } from "@unacked/sdk/host";

/** A service passes on one checkpoint a second, and the harness each at once; here the second one waits for longer than any test. */
const SAVE_EVERY_MS = 60_000;
const WITHIN_MS = 5_000;

/** So many events of a run whose checkpoints are saved seldom. Rejects where it waits for them, or ends before. */
export async function firstEventsOf(type: ObserverDefinition, params: unknown, count: number): Promise<unknown[]> {
  const parsed = parseParams(type, params);
  if (!parsed.ok || type.checkpoint === undefined) throw new Error(`${type.type} saves nothing, or takes other params`);
  const events: unknown[] = [];
  const enough = new AbortController();
  const run = createRunContext<unknown>({
    params: parsed.params,
    observer: { id: "o", name: type.type, type: type.type, labels: {} },
    runId: "r",
    fencingToken: 1,
    saves: { schema: type.checkpoint, everyMs: SAVE_EVERY_MS, checkpoint: undefined, save: () => Promise.resolve() },
    stopTimeoutMs: 1_000,
    writeLog: () => undefined,
    publish: (json) => {
      if (events.push(JSON.parse(json)) === count) enough.abort();
      return Promise.resolve();
    },
  });
  const settled = settleRun(type, run.context);
  await Promise.race([settled, wait(WITHIN_MS, undefined, { signal: enough.signal }).catch(() => undefined)]);
  const first = events.slice(0, count); // a save waits no longer when its run is stopped
  run.stop(new ObserverStopped("stopped"));
  const outcome = await settled;
  await run.end();
  if (first.length === count) return first;
  throw new Error(`${first.length} of ${count} events within ${WITHIN_MS} ms, and it ended as ${JSON.stringify(outcome)}`);
}
