import { spawn } from "node:child_process";
import { PlainError } from "../progress.mjs";

/**
 * Runs a program to its end, quietly: its output is shown only if it fails.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, advice?: string }} [options] `advice` tells what to do when it fails
 * @returns {Promise<string>} what it wrote to standard output
 */
export async function runTool(program, args, { cwd, env = process.env, advice = "" } = {}) {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let answer = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  child.stdout.on("data", (chunk) => (answer += chunk));
  /** @type {string} */
  const outcome = await new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code === 0 ? "" : (signal ?? `exit code ${code}`)));
  });
  if (outcome === "") return answer;
  const said = output.trim().split("\n").slice(-40).join("\n");
  throw new PlainError(`${said}\n\n${[program, ...args].join(" ")} failed (${outcome}). ${advice}`.trim());
}
