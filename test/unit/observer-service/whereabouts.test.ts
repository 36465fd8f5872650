import { afterEach, expect, test } from "vitest";
import { type Owner, runAs } from "../../../services/observer-service/src/isolation.ts";
import { FileOwner } from "../../../services/observer-service/src/slot/file-owner.ts";
import { installWhereabouts } from "../../../services/observer-service/src/slot/whereabouts.ts";

const { prepareStackTrace } = Error;
afterEach(() => void Object.assign(Error, { prepareStackTrace }));

installWhereabouts(() => false);

const RUN: Owner = { runId: "run-1", uncaught: () => undefined };

function whereabouts(owner = RUN): object {
  const ask = (globalThis as unknown as Record<symbol, () => string>)[Symbol.for("unacked.whereabouts")] as () => string;
  return runAs(owner, () => JSON.parse(ask()) as object);
}

test.each([
  ["makes something else of them", (_error: Error, frames: unknown) => frames],
  ["throws", () => expect.unreachable()],
])("who runs, and where, is told whatever an author's code makes of stacks: it %s", (_what, prepare) => {
  Object.assign(Error, { prepareStackTrace: prepare });
  expect(whereabouts()).toEqual({ runId: "run-1", isUsed: false, stack: expect.stringContaining("whereabouts.test.ts") });
  expect(Error.prepareStackTrace).toBe(prepare);
});

test("of what a file does by itself the file is told, as there is no run", () => {
  const loose = new FileOwner("/types/loose.ts", () => undefined);
  expect(whereabouts(loose)).toEqual({ file: "/types/loose.ts", isUsed: false, stack: expect.any(String) });
});
