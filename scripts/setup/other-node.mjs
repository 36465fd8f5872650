import { join } from "node:path";
import { PlainError } from "../progress.mjs";
import { runTool } from "./run-tool.mjs";

/**
 * Another version of Node than the one that runs this, from npm, below `.unacked`.
 *
 * @param {string} root of the repository
 * @param {string} major as `22`
 * @returns {Promise<string>} its program
 */
export async function otherNode(root, major) {
  if (!/^\d+$/.test(major)) throw new PlainError("--node takes a major version, as 22.");
  const dir = join(root, `.unacked/node-${major}`);
  const advice = `Node ${major} could not be had from npm.`;
  await runTool("npm", ["install", "--no-audit", "--no-fund", "--prefix", dir, `node@${major}`], { cwd: root, advice });
  return join(dir, "node_modules/node/bin/node");
}
