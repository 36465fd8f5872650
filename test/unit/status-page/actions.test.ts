import { expect, onTestFinished, test, vi } from "vitest";
import { doToMany } from "../../../services/status-page/src/wire/actions.ts";

// Before the page's modules are loaded, whose client is for where their page came from.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1:8080/")));

/** A manager that accepts all of so many calls, and is then away. */
function managerFor(calls: number): void {
  let answered = 0;
  vi.stubGlobal("fetch", async (_address: string, { body }: { body: string }) => {
    if (answered === calls) throw new TypeError("fetch failed");
    answered += 1;
    const { ids } = JSON.parse(body) as { ids: string[] };
    return Response.json({ results: ids.map((ref) => ({ ref, status: 202, observer: {} })) });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
}

const IDS = Array.from({ length: 2_500 }, (_, at) => `id-${at}`);

test("An action that is broken off in the middle tells what was done, and of how many nobody knows", async () => {
  managerFor(2);
  const { accepted, open } = await doToMany("stop", IDS, (id) => id);
  expect([accepted, open?.count, open?.failure.code]).toEqual([2_000, 500, "unreachable"]);
});

test("One whose first call fails has failed", async () => {
  managerFor(0);
  await expect(doToMany("stop", IDS, (id) => id)).rejects.toMatchObject({ code: "unreachable" });
});
