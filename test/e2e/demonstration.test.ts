import { expect, it } from "vitest";
import { createDemonstration } from "../../scripts/start/demonstration.mjs";
import { freshSystem } from "../support/system/system.ts";

it("the demonstration of npm start does not wait for a type that no service has: it says so at once, and once", async () => {
  const system = await freshSystem();
  try {
    await system.startManager();
    await system.startService("service-1"); // whose observers are those of the tests
    const beganMs = performance.now();
    const complaints = await createDemonstration(system.url, "ws://127.0.0.1:1");
    expect(complaints).toEqual([expect.stringContaining('knows the type "price-watch"')]);
    expect(performance.now() - beganMs).toBeLessThan(20_000);
  } finally {
    await system.close();
  }
});
