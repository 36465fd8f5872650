import {
  defineTask,
  isObserverStopped,
  NonRetryableError,
  type RunOutcome,
  type TaskDefinition,
  untilAborted,
} from "@unacked/sdk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { thrownText } from "../../../services/observer-service/src/error-text.ts";
import { currentOwner } from "../../../services/observer-service/src/isolation.ts";
import { timeIsUp } from "../../../services/observer-service/src/keeper/tasks/task-end.ts";
import { LocalHandlers } from "../../../services/observer-service/src/local-handlers.ts";
import type { Attempt, TaskWord } from "../../../services/observer-service/src/wire/attempt.ts";
import type { StopCause } from "../../../services/observer-service/src/wire/stop-cause.ts";

/** A handler that runs in the service itself (`SLOTS=0`), what it is told by its keeper, and how it ends. */
function begin(definition: TaskDefinition, taskIds?: string[]) {
  const handlers = new LocalHandlers({
    ...{ types: new Map(), tasks: new Map([[definition.type, definition]]) },
    ...{ described: [], notOffered: [], broken: [] },
  });
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const run = {
    start: { observerId: "o", name: "n", type: definition.type, labels: {}, params: {} },
    ...{ runId: "r", log: { ...log, isLevelEnabled: () => false } },
    ...(taskIds && { members: taskIds.map((taskId) => ({ taskId, params: {}, attempt: 1 })) }),
  };
  let attempt: Attempt | undefined;
  const settled = new Promise<{ outcome: RunOutcome; word: TaskWord | undefined }>((resolve) => {
    const host = {
      ...{ stopTimeoutMs: 1_000, tracing: undefined },
      tailOf: () => ({ line: () => undefined, value: () => undefined, thrown: () => undefined }),
      onUncaught: (_: unknown, error: unknown) => attempt?.abort({ kind: "uncaught", error: thrownText(error) }),
      onSettled: (_: unknown, outcome: RunOutcome, word: TaskWord | undefined) => resolve({ outcome, word }),
    };
    attempt = handlers.start(host as never, run as never);
  });
  return { attempt: attempt as Attempt, settled };
}

const params = z.object({});

describe("without slots", () => {
  it.each<[string, () => Promise<never[]>]>([
    ["throws what is final", () => Promise.reject(new NonRetryableError("gone"))],
    ["returns no list", async () => "nothing" as never],
  ])("a call for many that %s has failed for good", async (_, runBatch) => {
    const { settled } = begin(defineTask({ type: "many", params, batch: { size: 2 }, runBatch }), ["a", "b"]);
    expect(await settled).toMatchObject({ outcome: { outcome: "failed" }, word: { isFinal: true, members: new Map() } });
  });

  it.each([true, false])(
    "what nobody caught is the cause of the signal's reason, and final where it is (of many: %s)",
    async (isOfMany) => {
      const thrown = new NonRetryableError("gone");
      const reasons: unknown[] = [];
      const work = async (signal: AbortSignal) => {
        setImmediate(() => currentOwner()?.uncaught(thrown));
        reasons.push(await untilAborted(signal));
      };
      const definition = isOfMany
        ? defineTask({
            type: "x",
            params,
            batch: { size: 1 },
            runBatch: (_, { signal }) => work(signal).then(() => []),
          })
        : defineTask({ type: "x", params, run: ({ signal }) => work(signal) });
      const { settled } = begin(definition, isOfMany ? ["a"] : undefined);
      expect(await settled).toMatchObject({ outcome: { outcome: "failed", error: thrown }, word: { isFinal: true } });
      expect(reasons).toEqual([expect.objectContaining({ code: "failed", cause: thrown })]);
    },
  );

  it.each<[StopCause, string]>([
    [{ kind: "stopped" }, "stopped: it was stopped"],
    [{ kind: "not-wanted" }, "stopped: it was stopped: by the books it is not to run any more"],
    [{ kind: "unknown" }, "stopped: it was stopped: the books do not know it"],
    [{ kind: "restarted" }, "restarted: it begins again"],
    [{ kind: "restarted", why: "its code was loaded again" }, "restarted: it begins again: its code was loaded again"],
    [
      { kind: "moved", why: "its slot took 90 MiB, of 80 that it may" },
      "restarted: it is moved: its slot took 90 MiB, of 80 that it may",
    ],
    [{ kind: "shed" }, "restarted: it is moved: another service is to have it"],
    [{ kind: "obsolete" }, "superseded: another run of it is the current one"],
    [{ kind: "draining" }, "draining: its service is being drained, or ends: it begins again elsewhere"],
    [{ kind: "lease-lost" }, "lease-lost: its service lost its lease, and it may be running elsewhere"],
  ])("why it is to end is said in words that fit an observer and a task: %o", async (cause, said) => {
    const reasons: unknown[] = [];
    const run = async ({ signal }: { signal: AbortSignal }) => void reasons.push(await untilAborted(signal));
    const { attempt, settled } = begin(defineTask({ type: "x", params, run }));
    attempt.abort(cause);
    await settled;
    expect(reasons.map((reason) => isObserverStopped(reason) && `${reason.code}: ${reason.message}`)).toEqual([said]);
  });

  it("that its time is up is what the signal's reason says", async () => {
    const reasons: unknown[] = [];
    const run = async ({ signal }: { signal: AbortSignal }) => void reasons.push(await untilAborted(signal));
    const { attempt, settled } = begin(defineTask({ type: "x", params, run }));
    attempt.abort({ kind: "uncaught", error: timeIsUp(50) });
    expect(await settled).toMatchObject({ outcome: { outcome: "failed", error: timeIsUp(50) }, word: {} });
    expect(reasons).toEqual([
      expect.objectContaining({ message: timeIsUp(50).message, cause: expect.objectContaining(timeIsUp(50)) }),
    ]);
  });
});
