import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { saveFolder } from "../../support/slots/bare-folder.ts";
import { bareSlots } from "../../support/slots/bare-slots.ts";

/* Which file it is that ends the slots that load it, and how long that is held against it. */

let dir: string;
let handlers: SlotHandlers;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
});
afterEach(async () => {
  await handlers.close(0);
  rmSync(dir, { recursive: true, force: true });
});

/** By file: whether it ends who loads it, or the file that does, if it was loaded before. */
function save(ends: Record<string, true | string | undefined>, blames?: string): void {
  const files = Object.entries(ends).map(([file, by]) => ({ file, ends: by }));
  saveFolder(dir, ["well"], { files, blames });
}

async function open(): Promise<void> {
  handlers = new SlotHandlers(bareSlots({ dir, count: 2, max: 9 }), createLog("silent"));
  await handlers.open();
  await untilFull();
}
const purposes = () => handlers.slots().map(({ purpose }) => purpose);
const untilFull = () => eventually(() => expect(purposes().toSorted()).toEqual(["shared", "shared", "spare"]));
const broken = () => handlers.catalogue.broken.map(({ file }) => file);

test("A file is not left out for what another has left behind, and ends slots while that one loads", async () => {
  save({ "a.ts": undefined, "b.ts": "a.ts", "well.ts": undefined });
  await open();
  expect(broken()).toEqual([]);
});

test("A file that ends new slots, at run time, too, is told of as broken, until it is loaded again and is well", async () => {
  save({ "ends.ts": undefined, "well.ts": undefined });
  await open();
  save({ "ends.ts": true, "well.ts": undefined });
  for (const { pid } of handlers.slots()) process.kill(pid, "SIGKILL");
  await eventually(() => expect(broken()).toEqual(["ends.ts"]));
  await untilFull();
  expect((await handlers.reload()).kind).toBe("unchanged"); // it was tried, and has ended one more
  expect(broken()).toEqual(["ends.ts"]);
  save({ "ends.ts": undefined, "well.ts": undefined });
  expect((await handlers.reload()).kind).toBe("unchanged");
  expect(broken()).toEqual([]);
});

test("Where an error of nobody's ended the slots that load it, its author reads which", async () => {
  save({ "ends.ts": "unowned", "well.ts": undefined });
  await open();
  expect(handlers.catalogue.broken).toMatchObject([
    { file: "ends.ts", problem: expect.stringContaining("Error: nobody's") },
  ]);
});

test("so also where they end at run time", async () => {
  save({ "ends.ts": undefined, "well.ts": undefined });
  await open();
  save({ "ends.ts": "unowned", "well.ts": undefined });
  for (const { pid } of handlers.slots()) process.kill(pid, "SIGKILL");
  await eventually(() =>
    expect(handlers.catalogue.broken).toMatchObject([{ problem: expect.stringContaining("Error: nobody's") }]),
  );
});

test.each(["one.ts", "two.ts"])(
  "Of two files that were left out the one that is mended is there after one load: %s",
  async (mended) => {
    save({ "one.ts": true, "two.ts": true, "well.ts": undefined });
    await open();
    expect(broken().toSorted()).toEqual(["one.ts", "two.ts"]);
    save({ "one.ts": true, "two.ts": true, "well.ts": undefined, [mended]: undefined });
    expect((await handlers.reload()).kind).toBe("unchanged");
    expect(broken()).toEqual([mended === "one.ts" ? "two.ts" : "one.ts"]);
  },
);

test("What a slot says that it loads when it has loaded all is an author's word, and blames no file", async () => {
  save({ "well.ts": undefined }, "well.ts");
  await open();
  for (let i = 0; i < 3; i += 1) {
    const before = handlers.slots().map(({ pid }) => pid);
    for (const pid of before) process.kill(pid, "SIGSEGV");
    await eventually(() => expect(handlers.slots().some(({ pid }) => before.includes(pid))).toBe(false));
    await untilFull();
  }
  expect(broken()).toEqual([]);
});
