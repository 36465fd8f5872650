import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ROOT } from "../support/processes/processes.ts";

let dir: string;
const definitions = () => join(dir, "unacked-definitions.json");

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "unacked-start-"));
  for (const file of ["rabbitmq-definitions.sh", "rabbitmq-definitions.json"])
    copyFileSync(join(ROOT, "deploy", file), join(dir, file));
  const script = readFileSync(join(ROOT, "deploy/rabbitmq-start.sh"), "utf8");
  writeFileSync(join(dir, "rabbitmq-start.sh"), script.replaceAll("/tmp/", `${dir}/`));
  for (const program of ["chown", "docker-entrypoint.sh"]) {
    writeFileSync(join(dir, program), '#!/bin/sh\necho "$(basename "$0") $*"\n');
    chmodSync(join(dir, program), 0o755);
  }
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const start = (password: string) =>
  spawnSync("sh", [join(dir, "rabbitmq-start.sh")], {
    env: { PATH: `${dir}:${process.env["PATH"]}`, MANAGER_PASSWORD: password, SERVICE_PASSWORD: "b" },
    encoding: "utf8",
  });

it("starts the broker with its users, in a file that only it can read", () => {
  expect(start("first")).toMatchObject({
    status: 0,
    stdout: `chown rabbitmq: ${definitions()}\ndocker-entrypoint.sh rabbitmq-server\n`,
  });
  expect(readFileSync(definitions(), "utf8")).toContain('"first"');
});

it("does so when its container is started again, whose file of before is another user's in a sticky folder", () => {
  start("first");
  linkSync(definitions(), join(dir, "before"));
  expect(start("second").status).toBe(0);
  expect(readFileSync(definitions(), "utf8")).toContain('"second"');
  // Written into it would be refused by kernels with fs.protected_regular.
  expect(readFileSync(join(dir, "before"), "utf8")).toContain('"first"');
});
