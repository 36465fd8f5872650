import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../processes/processes.ts";

/** A version that is out, and the commit that it was made of. */
export interface Release {
  version: string;
  commit: string;
}

/** Oldest first. A tag may be moved or missing; a commit is what it is. */
export const RELEASES: readonly Release[] = Object.entries(
  JSON.parse(readFileSync(join(ROOT, "test/fixtures/releases.json"), "utf8")) as Record<string, string>,
).map(([version, commit]) => ({ version, commit }));

/** False in a shallow clone, and where there is no history at all, as in an unpacked archive. */
export function isHere({ commit }: Release): boolean {
  if (!existsSync(join(ROOT, ".git"))) return false;
  return spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: ROOT, stdio: "ignore" }).status === 0;
}

const git = (...args: string[]): string => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();

/** What has changed in a folder since a release. */
export const changedSince = ({ commit }: Release, folder: string): string =>
  [git("diff", "--name-only", commit, "--", folder), git("status", "--porcelain", "--", folder)].filter(Boolean).join("\n");

/**
 * That version, with its own packages and built, in `.unacked/releases`; kept for the next run. Needs the registry, or npm's
 * cache, the first time.
 */
export function builtRelease({ commit }: Release): string {
  const dir = join(ROOT, ".unacked/releases", commit);
  if (existsSync(dir)) return dir;
  const unfinished = `${dir}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const archive = execFileSync("git", ["archive", commit], { cwd: ROOT, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", unfinished], { input: archive });
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: unfinished, stdio: "pipe" });
  run("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund");
  run("npx", "tsc", "-b", "services/observer-manager", "services/observer-service");
  renameSync(unfinished, dir);
  return dir;
}
