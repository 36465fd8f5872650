import { defineObserver } from "@unacked/sdk";
import { z } from "zod";

/** Emits as fast as the broker confirms, one after the other. */
export default defineObserver({
  type: "wait",
  description: "For the benchmark: emits without a pause.",
  params: z.strictObject({}),
  async run({ signal, emit, observer }) {
    for (let n = 1; !signal.aborted; n += 1) await emit({ n, of: observer.name, price: 64_000 + (n % 100) });
  },
});
