import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/processes/processes.ts";

interface Manifest {
  workspaces?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  overrides?: Record<string, string>;
}

const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
  packages: Record<string, { integrity?: string; link?: boolean; optional?: boolean }>;
};
/** The repository's own packages: the root, and every workspace. */
const own = Object.keys(lock.packages).filter((path) => !path.split("/").includes("node_modules"));

test("every package.json pins what it depends on to one version", () => {
  expect(own.length).toBeGreaterThan(8);
  const ranges = own.flatMap((path) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, path, "package.json"), "utf8")) as Manifest;
    const { dependencies, devDependencies, optionalDependencies, peerDependencies, overrides } = manifest;
    const all = { ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies, ...overrides };
    return Object.entries(all)
      .filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${path || "."}: ${name} ${version}`);
  });
  expect(ranges).toEqual([]);
});

test("the lock has a checksum for every package from outside, and names no registry", () => {
  const outside = Object.entries(lock.packages).filter(([path, { link }]) => !own.includes(path) && link !== true);
  expect(outside.length).toBeGreaterThan(100);
  // npm keeps none of what it left out because it is for another platform.
  const unchecked = outside.filter(([, { integrity, optional }]) => integrity === undefined && optional !== true);
  expect(unchecked.map(([path]) => path)).toEqual([]);
  expect(JSON.stringify(lock)).not.toMatch(/https?:\/\/[^"]*\.tgz/);
});
