import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/processes/processes.ts";
import { temporaryFolder } from "../support/servers/servers.ts";

/** A clone in which nothing is installed and nothing is built. */
function freshClone(): string {
  const dir = join(temporaryFolder("clone"), "unacked");
  mkdirSync(dir);
  for (const each of ["package.json", "scripts"]) cpSync(join(ROOT, each), join(dir, each), { recursive: true });
  return dir;
}

const start = (cwd: string, ...args: string[]) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const env = { ...process.env, INIT_CWD: undefined };
    execFile("npm", ["start", "--silent", "--", ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr }),
    );
  });

test.each([
  [["--help"], 0, "Usage: npm start"],
  [["--observer", "x"], 2, "Unknown option '--observer'"],
  [["--port", "0", "--observers", "nowhere"], 1, "There is no folder"],
  [["--port", "0", "--recording", "nowhere"], 1, "There is no recording"],
])("npm start -- %j answers before anything is installed or built", async (args, code, said) => {
  const clone = freshClone();
  const answer = await start(clone, ...args);
  expect(answer).toEqual({ code, output: expect.stringContaining(said) });
  expect(answer.output).not.toContain("Installing");
  expect(readdirSync(clone).toSorted()).toEqual(["package.json", "scripts"]);
});
