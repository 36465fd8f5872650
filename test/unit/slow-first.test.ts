import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SLOW } from "../support/runs/slow-first.ts";

test("each file that is begun first is there", () => {
  const gone = SLOW.filter((name) => !existsSync(join(import.meta.dirname, "..", `${name}.test.ts`)));
  expect(gone).toEqual([]);
});
