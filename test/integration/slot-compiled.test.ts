import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../support/processes/processes.ts";
import { openSlots } from "../support/slots/real-slots.ts";

/** As `tsc` writes it with `"module": "commonjs"`. */
const COMPILED = `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const sdk_1 = require("@unacked/sdk");
const zod_1 = require("zod");
exports.default = (0, sdk_1.defineObserver)({ type: "compiled", params: zod_1.z.strictObject({}), run: async () => {} });
`;

test("TypeScript that was compiled to CommonJS is loaded", async () => {
  const dir = mkdtempSync(join(tmpdir(), "unacked-folder-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules"));
  writeFileSync(join(dir, "compiled.js"), COMPILED);
  const args = [join(ROOT, "services/observer-service/dist/slot/main.js")]; // as the service starts it: by Node alone
  const { handlers } = await openSlots(dir, 1, 1_000, { args });
  expect(handlers.catalogue.types.map(({ type }) => type)).toEqual(["compiled"]);
});
