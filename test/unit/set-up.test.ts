import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

test("Where RabbitMQ is missing and cannot be installed a set-up says so before it installs or builds anything", () => {
  const root = mkdtempSync(join(tmpdir(), "unacked-set-up-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const program = `import { setUp } from ${JSON.stringify(resolve("scripts/setup/set-up.mjs"))};
    await setUp(${JSON.stringify(root)}).catch(({ message }) => console.log(message));`;
  // Without a path there is no Erlang, no Docker and no apt-get.
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { env: { PATH: "" } });
  expect(String(stdout)).toMatch(/^RabbitMQ is missing/);
});
