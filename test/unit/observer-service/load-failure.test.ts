import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BrokenFile } from "@unacked/contracts";
import { expect, onTestFinished, test } from "vitest";
import { brokenFile } from "../../../services/observer-service/src/slot/load-failure.ts";

test("what is told of a broken file can always be sent, also of long lines far down", () => {
  const folder = mkdtempSync(join(tmpdir(), "unacked-broken-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "feed.ts");
  writeFileSync(file, Array.from({ length: 1_200 }, () => "x".repeat(200)).join("\n"));
  for (const line of [1, 100, 1_198])
    for (const column of [1, 147, 158, 160, 199]) {
      const told = BrokenFile.safeParse(brokenFile(file, "it does not load", { file, line, column }));
      expect([line, column, told.error?.issues]).toEqual([line, column, undefined]);
      expect(told.data?.excerpt).toContain(`> `);
    }
});
