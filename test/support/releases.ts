import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./processes.ts";

/** Earlier versions of this repository, by their tags `v…`. */

const git = (...args: string[]): string => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();

/** Whether there is such a tag; false where there is no history, as in an unpacked archive. */
export function isReleased(tag: string): boolean {
  return existsSync(join(ROOT, ".git")) && git("tag", "--list", tag) === tag;
}

/** The newest tag behind what is checked out, and not on it; undefined if there is none. */
export function lastRelease(): string | undefined {
  if (!existsSync(join(ROOT, ".git"))) return undefined;
  const tags = git("tag", "--list", "v*", "--merged", "HEAD", "--no-contains", "HEAD", "--sort=-creatordate");
  return tags.split("\n")[0] || undefined;
}

/** What has changed in a folder since a tag. */
export const changedSince = (tag: string, folder: string): string =>
  [git("diff", "--name-only", tag, "--", folder), git("status", "--porcelain", "--", folder)].filter(Boolean).join("\n");

/**
 * That version, with its own packages and built, in `.unacked/releases`; kept for the next run. Needs the registry, or npm's
 * cache, the first time.
 */
export function builtRelease(tag: string): string {
  const dir = join(ROOT, ".unacked/releases", git("rev-parse", `${tag}^{commit}`));
  if (existsSync(dir)) return dir;
  const unfinished = `${dir}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const archive = execFileSync("git", ["archive", tag], { cwd: ROOT, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", unfinished], { input: archive });
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: unfinished, stdio: "pipe" });
  run("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund");
  run("npx", "tsc", "-b", "services/observer-manager", "services/observer-service");
  renameSync(unfinished, dir);
  return dir;
}
