import { describe, expect, it, vi } from "vitest";
import { Orders, type OrdersParts } from "../../../services/observer-service/src/keeper/control/orders.ts";

/** What of its intake it was told to do, in order. */
function heard() {
  const done: string[] = [];
  const act = (what: string) => () => {
    done.push(what);
    return Promise.resolve();
  };
  const drain = { begun: false, run: act("drain"), cordon: act("cordon"), goOn: act("uncordon") };
  const orders = new Orders({
    reload: vi.fn(),
    drain,
    shed: { give: act("give"), stepAside: act("step aside") },
    tell: vi.fn(),
    stopTimeoutMs: 1_000,
    isEnding: () => false,
    fail: () => Promise.resolve(),
    log: { info: vi.fn(), debug: vi.fn() },
  } as unknown as OrdersParts);
  return { orders, done };
}

describe("Orders about what a service takes", () => {
  it("are followed as they were given, not as they are heard: of two managers the broker may have blocked one for longer", () => {
    const { orders, done } = heard();
    orders.cordon(1_000);
    orders.drain(3_000);
    orders.uncordon(2_000);
    orders.cordon(1_000);
    expect(done).toEqual(["cordon", "drain"]);
    orders.uncordon(4_000);
    expect(done).toEqual(["cordon", "drain", "uncordon"]);
  });

  it("are followed as they are heard where a manager does not say when it gave them", () => {
    const { orders, done } = heard();
    orders.drain(3_000);
    orders.uncordon();
    orders.cordon();
    expect(done).toEqual(["drain", "uncordon", "cordon"]);
  });

  it("are followed again ten minutes after the last, whenever they were given: a clock may have been set back", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { orders, done } = heard();
    orders.drain(3_000);
    orders.uncordon(2_000);
    vi.advanceTimersByTime(600_000);
    orders.uncordon(2_000);
    vi.useRealTimers();
    expect(done).toEqual(["drain", "uncordon"]);
  });
});
