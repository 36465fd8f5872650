import { afterEach, expect, test } from "vitest";
import { runAs } from "../../../services/observer-service/src/isolation.ts";
import { installWhereabouts } from "../../../services/observer-service/src/slot/whereabouts.ts";

const { prepareStackTrace } = Error;
afterEach(() => void Object.assign(Error, { prepareStackTrace }));

installWhereabouts();

function whereabouts(): { runId?: string; stack?: unknown } {
  const ask = (globalThis as unknown as Record<symbol, () => string>)[Symbol.for("unacked.whereabouts")] as () => string;
  return runAs({ runId: "run-1", uncaught: () => undefined }, () => JSON.parse(ask()) as object);
}

test.each([
  ["makes something else of them", (_error: Error, frames: unknown) => frames],
  ["throws", () => expect.unreachable()],
])("who runs, and where, is told whatever an author's code makes of stacks: it %s", (_what, prepare) => {
  Object.assign(Error, { prepareStackTrace: prepare });
  expect(whereabouts()).toEqual({ runId: "run-1", stack: expect.stringContaining("whereabouts.test.ts") });
  expect(Error.prepareStackTrace).toBe(prepare);
});
