import { expect, test } from "vitest";
import { OWN_SERVICE, openSlots } from "../../support/slots/real-slots.ts";

/* A service starts its slots from the folder that it was itself started in, whatever has been put there meanwhile. */

const open = (version: string) => openSlots("poison", 1, 1_000, { service: { ...OWN_SERVICE, version } });

test("A slot loads nothing for a service of another version, and says what to do", async () => {
  await expect(open("0.0.1")).rejects.toThrow(
    `the folder of this program has version ${OWN_SERVICE.version} by now, and its service was started with 0.0.1: restart the service`,
  );
});

test("A slot of its service's version loads", async () => {
  const { handlers } = await open(OWN_SERVICE.version);
  expect(handlers.catalogue.types.map(({ type }) => type)).toContain("poison");
});
