import type { ReloadEnded } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import type { Reload } from "../../../services/observer-service/src/keeper/runs/handlers.ts";
import { ReloadOrders } from "../../../services/observer-service/src/service/reload-orders.ts";
import { Reloading } from "../../../services/observer-service/src/service/reloading.ts";

/** Loads that end when they are told to. */
function loads() {
  const begun: { end(reload: Reload): void; fail(error: Error): void }[] = [];
  const reloading = new Reloading(
    () => new Promise<Reload>((resolve, reject) => void begun.push({ end: resolve, fail: reject })),
  );
  const untilBegun = async (count: number) => {
    for (let turns = 0; begun.length < count && turns < 10; turns += 1) await Promise.resolve();
    expect(begun).toHaveLength(count);
    return begun[count - 1] ?? expect.fail("it has not begun");
  };
  return { reloading, begun, untilBegun };
}

const changed = (...types: string[]): Reload => ({ kind: "loaded", changed: types, added: [], gone: [] });

describe("a folder that is loaded again", () => {
  test("while it is being loaded, is loaded once more for all who ask meanwhile, and they hear of that one", async () => {
    const { reloading, begun, untilBegun } = loads();
    const first = reloading.ask();
    const one = await untilBegun(1);
    const late = [reloading.ask(), reloading.ask()];
    one.end(changed("first"));
    expect(await first).toEqual(changed("first"));
    (await untilBegun(2)).end(changed("second"));
    expect(await Promise.all(late)).toEqual([changed("second"), changed("second")]);
    expect(begun).toHaveLength(2);
  });

  test("is loaded again also after a load that failed", async () => {
    const { reloading, untilBegun } = loads();
    const first = reloading.ask();
    (await untilBegun(1)).fail(new Error("no process"));
    await expect(first).rejects.toThrow("no process");
    const second = reloading.ask();
    (await untilBegun(2)).end({ kind: "unchanged" });
    expect(await second).toEqual({ kind: "unchanged" });
  });
});

describe("an order to load the folder again", () => {
  function orders() {
    const told: ReloadEnded[] = [];
    const { reloading, begun, untilBegun } = loads();
    const all = new ReloadOrders({ reload: () => reloading.ask(), tell: (event) => void told.push(event) });
    return { told, begun, untilBegun, take: (id: string) => all.take(id) };
  }

  test("is followed once, however often it comes, and answered each time it comes after that", async () => {
    const { told, begun, untilBegun, take } = orders();
    const first = take("a");
    await take("a");
    expect(told).toEqual([]);
    (await untilBegun(1)).end(changed("ticker"));
    await first;
    expect(told).toMatchObject([
      { kind: "ReloadEnded", reloadId: "a", outcome: "loaded", changed: ["ticker"], added: [], gone: [] },
    ]);
    await take("a");
    expect(told).toEqual([told[0], told[0]]);
    expect(begun).toHaveLength(1);
  });

  test("that comes while another is followed is followed after it, and each is answered by its own", async () => {
    const { told, untilBegun, take } = orders();
    const first = take("a");
    const load = await untilBegun(1);
    const second = take("b");
    load.end({ kind: "unchanged" });
    await first;
    (await untilBegun(2)).end(changed("ticker"));
    await second;
    expect(told.map(({ reloadId, outcome }) => [reloadId, outcome])).toEqual([
      ["a", "unchanged"],
      ["b", "loaded"],
    ]);
  });

  test("that is refused is answered by why, and by the files at fault, as many as can be told", async () => {
    const { told, untilBegun, take } = orders();
    const first = take("a");
    const broken = Array.from({ length: 30 }, (_, i) => ({ file: `${i}.ts`, problem: "it does not load" }));
    (await untilBegun(1)).end({ kind: "refused", why: "w".repeat(10_000), broken });
    await first;
    expect(told[0]).toMatchObject({ outcome: "refused", brokenFiles: broken.slice(0, 20) });
    expect(told[0]?.why).toHaveLength(4_000);
  });

  test("of a process that ends meanwhile is not answered", async () => {
    const told: ReloadEnded[] = [];
    const ending = new ReloadOrders({ reload: async () => undefined, tell: (event) => void told.push(event) });
    await ending.take("a");
    await ending.take("a");
    expect(told).toEqual([]);
  });
});
