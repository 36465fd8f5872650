import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { holdOnLeash } from "../../../scripts/processes/leash.mjs";
import { ROOT } from "./processes.ts";

export const CLI_FILE = join(ROOT, "cli/bin/unacked.mjs");

export interface CliAnswer {
  code: number | null;
  out: string;
  err: string;
}

export interface CliOptions {
  env: Record<string, string>;
  cwd: string;
  input?: string;
}

/** Runs one command line of `unacked` as a process of its own, to its end. */
export const runCli = (args: string[], options: CliOptions): Promise<CliAnswer> =>
  runToEnd(process.execPath, [CLI_FILE, ...args], options);

/** Runs a piece of shell in which `unacked` is on the path, as it is where it is installed. Stops at the first failure. */
export const runShell = (script: string, options: CliOptions): Promise<CliAnswer> => {
  const path = [join(ROOT, "node_modules/.bin"), dirname(process.execPath), process.env.PATH].join(":");
  return runToEnd("bash", ["--norc", "-euo", "pipefail", "-c", script], { ...options, env: { ...options.env, PATH: path } });
};

function runToEnd(program: string, args: string[], { env, cwd, input = "" }: CliOptions): Promise<CliAnswer> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, detached: true });
  holdOnLeash(child);
  const answer: CliAnswer = { code: null, out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (answer.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (answer.err += text));
  child.stdin.on("error", () => undefined); // it may end without having read
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...answer, code }));
  });
}
